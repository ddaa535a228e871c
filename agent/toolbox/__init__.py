"""What the model may call: propose an operation, look at the state, withdraw the open plan. Nothing else."""
