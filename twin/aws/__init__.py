"""The AWS half of the twin: wire protocols, services and the fleet behind them."""
