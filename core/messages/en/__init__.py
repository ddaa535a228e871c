"""English texts, one module per topic."""
