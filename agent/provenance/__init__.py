"""Human choices as the requester said them: found by code, in their own unquoted words, with their standing.

Light on purpose: nothing here imports LangGraph, the model wire or a client.
"""
