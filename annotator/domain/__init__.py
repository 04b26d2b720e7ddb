"""Goldsmith's entities as plain data."""

from annotator import loading

with loading():
    import sqlmodel

# A class builds its validator on first use: the window's first page needs few of them, and reading a row none.
sqlmodel.SQLModel.model_config["defer_build"] = True
