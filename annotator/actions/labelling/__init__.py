"""Labelling by people: queues, labels, second looks, submission and progress."""
