"""Forms for each kind of document: fields, words, guideline."""
