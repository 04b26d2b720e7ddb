"""Garbage collection on the window's thread alone, since Qt objects must not die on another."""

import gc


def begin() -> None:
    """Set aside what is loaded by now, and collect only when told to.

    Python by itself collects on whatever thread happens to ask for memory, a background one too, and frees there what
    a window has left: a timer or a model that dies on another thread than its own can end the program.
    """
    gc.freeze()
    gc.disable()


def tidy() -> None:
    """Collect what is due by Python's own thresholds; to be called now and then.

    Everything is looked through only while nobody does anything: that can take as long as a key press is noticed.
    """
    young, middle, old = (
        have > due > 0 for have, due in zip(gc.get_count(), gc.get_threshold(), strict=True)
    )
    if young:
        gc.collect(1 if middle else 0)
    elif old:
        gc.collect()
