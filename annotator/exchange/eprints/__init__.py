"""Papers from arXiv: feeds and e-prints, the section that a paper's e-print holds, and the works that it cites."""
