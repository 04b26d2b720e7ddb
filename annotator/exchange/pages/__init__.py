"""How the pages that reports cite come in: fetched with care, read as text, or taken from a folder."""
