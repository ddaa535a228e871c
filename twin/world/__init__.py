"""The fleet behind the wire: what exists, what it becomes with time, and how a run of it begins."""
