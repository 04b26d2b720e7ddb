"""Many cases side by side."""
