"""Signals to faults: evidence, ordered rules, coalescing, and the verdict."""
