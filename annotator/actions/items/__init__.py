"""Items and what belongs to them: sources, responses, cited pages, and what is drawn from them."""
