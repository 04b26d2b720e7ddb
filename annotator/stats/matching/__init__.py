"""How texts are compared and lists aligned."""
