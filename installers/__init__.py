"""Installers, made of the folder that build.spec makes: `python3 start.py package`. Nothing here is in the program."""
