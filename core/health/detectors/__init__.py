"""Detectors over a running job: hang, straggler, slow-down and loss. Pure: a watch and an observation give a watch."""
