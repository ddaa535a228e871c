"""Pure decisions on frozen values: no I/O, no clock of its own, no randomness of its own."""
