"""The project file: people, the audit of changes, drafts, backups, and where its pieces come from."""
