"""Views of other people's work shared by several pages: sources, verdicts, rulings, replies."""
