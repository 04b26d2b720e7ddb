"""Layouts of others: ResearcherBench, files of labels."""
