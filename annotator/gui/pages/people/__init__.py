"""The People page of the coordinator: people, assignments and progress."""
