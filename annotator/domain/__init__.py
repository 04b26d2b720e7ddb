"""The things that Goldsmith works with, as plain data."""

from annotator import loading

with loading():
    import sqlmodel

# A class is made ready to validate when it first has to: the window's first page needs few of them, and a row's none.
sqlmodel.SQLModel.model_config["defer_build"] = True
