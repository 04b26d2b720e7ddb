"""How foreign files and labels come in, how labels leave as files, and how the sample is made."""
