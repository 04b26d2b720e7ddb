"""How pages reach the project and the person: verbs, questions, jobs, and what a page is."""
