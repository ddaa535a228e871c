"""The nodes of the graph, one module each. A node may run twice after a crash, and then changes nothing more."""
