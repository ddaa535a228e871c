"""Chinese texts, one module per topic."""
