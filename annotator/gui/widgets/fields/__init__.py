"""Fields to type and choose in."""
