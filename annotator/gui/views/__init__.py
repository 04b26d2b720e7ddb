"""Views of figures: chosen down the side, counted apart from the window, with the rows behind every figure."""
