"""What ResearcherBench says: how a report is covered, grounded and compared.

ResearcherBench: Evaluating Deep AI Research Systems on the Frontiers of AI Research.
"""
