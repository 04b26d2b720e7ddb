"""Sheets: tables of figures with units and intervals, and the files they become."""
