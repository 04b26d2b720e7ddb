"""How changes are undone, redone and recovered, above all subjects."""
