"""What is done about a fault, and everything that can stop it. Pure decisions over frozen state."""
