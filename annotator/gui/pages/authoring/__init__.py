"""The Author page, where experts write the documents of an item."""
