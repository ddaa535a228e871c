"""`muster demo`: the main job end to end on a local HyperPod, through a killed worker, and the proof of it."""
