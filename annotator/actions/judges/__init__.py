"""The judges: who they are, their keys, prices and prompts."""
