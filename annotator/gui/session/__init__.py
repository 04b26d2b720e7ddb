"""The link between pages, the project and the person: actions, queries, jobs, and the page itself."""
