"""Logs, labels and conditions to signals. One module per source, one `LinePattern` per shape of line."""
