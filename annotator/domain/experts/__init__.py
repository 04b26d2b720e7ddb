"""People, their assignments, and what they agree on."""
