"""Commands for research papers: collecting them, building items from them, and writing on these."""
