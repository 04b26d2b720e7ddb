"""The project file: people, the audit of changes, drafts, backups and bulk writing."""
