"""How foreign files come in, and how the sample is made."""
