"""The judges: who they are, their keys, endpoints and prompts."""
