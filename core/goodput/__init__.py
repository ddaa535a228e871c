"""How much of the paid time becomes training progress: accounting, closed forms, a simulator and a solver."""
