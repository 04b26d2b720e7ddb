"""What models write or draw: reports, parts, drafts and reference material."""
