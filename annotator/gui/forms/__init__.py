"""The form of each kind of document: its fields, its words, its guideline."""
