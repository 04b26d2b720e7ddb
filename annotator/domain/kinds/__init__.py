"""Documents that experts write, kind by kind."""
