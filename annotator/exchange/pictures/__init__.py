"""Pictures of results, agreement and validation."""
