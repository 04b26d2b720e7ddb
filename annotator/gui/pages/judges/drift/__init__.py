"""Whether judges still say what they said."""
