"""Every text for people, once per language. See `core.messages.message`."""
