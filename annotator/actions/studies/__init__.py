"""Studies of results: by domain, length, cause and mode, and the papers' own, such as duels."""
