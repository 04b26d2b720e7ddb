"""The reference system on a project: searching works, and writing from them."""
