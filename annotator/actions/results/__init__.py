"""Results: scores of systems with intervals, overall and by item; tables of figures and the files they become."""
