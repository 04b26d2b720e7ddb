"""Text similarity and list alignment."""
