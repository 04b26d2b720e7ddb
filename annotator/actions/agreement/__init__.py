"""How far people, and people with models, agree."""
