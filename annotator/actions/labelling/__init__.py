"""How people label: queues, labels, second looks, submission, and how far each is."""
