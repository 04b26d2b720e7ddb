"""Material that models write or extract: reports, parts, drafts and reference material."""
