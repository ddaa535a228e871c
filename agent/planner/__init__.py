"""The offline planner: a rule-based model behind Chat Completions, in a process of its own.

It sees only what any model sees (system prompt, messages, tools) and knows nothing of Muster's rows. It stands
on a grammar of verbs, nouns and entities in English and Chinese, not on sentences. Nothing here imports
LangGraph or the openai SDK.
"""
