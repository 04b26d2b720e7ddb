"""Goldsmith: expert gold for deep-research benchmarks."""

import gc
import os

# Looking for pydantic's plugins reads the metadata of every installed package; none is wanted here.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
# What is being loaded is not garbage: looking for some all the while costs a tenth of the start.
gc.disable()

# Importing sqlmodel after PySide6 can break pydantic's compiled core, so it comes first everywhere.
import sqlmodel

# A class is made ready to validate when it first has to: the window's first page needs few of them, and a row's none.
sqlmodel.SQLModel.model_config["defer_build"] = True

gc.freeze()
gc.enable()

__version__ = "0.1.0"
