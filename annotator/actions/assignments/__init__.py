"""Who does what by when: assignments, submissions, and agreement frozen when all are in."""
