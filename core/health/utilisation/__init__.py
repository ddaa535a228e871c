""" "Why are the GPUs not full?": facts from metrics, checks in a fixed order, verdicts with their evidence."""
