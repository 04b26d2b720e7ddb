"""The papers' own studies: attempts, contests, preferences, plans, retrieval, rubric pilots."""
