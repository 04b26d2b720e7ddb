"""Results: scores of systems with intervals, overall, by item, domain, length and cause."""
