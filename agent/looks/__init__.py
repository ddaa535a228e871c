"""The read tools: what the model may look at to answer a person's question about the state."""
