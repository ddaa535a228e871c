"""The model behind the wire: any server that speaks Chat Completions."""
