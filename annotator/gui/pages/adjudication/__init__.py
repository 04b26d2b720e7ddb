"""The Adjudicate page: a senior makes one document of several, conflicts first, entirely by keyboard."""
