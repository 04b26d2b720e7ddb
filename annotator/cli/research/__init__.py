"""Commands for research papers: collecting them and building items from them."""
