"""Goldsmith: expert gold for deep-research benchmarks."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# The search for pydantic's plugins reads the metadata of every installed package; none is wanted here.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


@contextmanager
def loading() -> Iterator[None]:
    """Disable garbage collection while modules are loaded: nothing loaded is garbage, and collecting costs a tenth of
    a start.
    """
    collecting, known = gc.isenabled(), len(sys.modules)
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            if len(sys.modules) > known:
                gc.freeze()
            gc.enable()


__version__ = "0.2.0"
