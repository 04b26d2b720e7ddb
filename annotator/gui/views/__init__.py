"""Views of figures: selected in a list, computed on another thread, with the rows behind every figure."""
