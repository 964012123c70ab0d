"""Pages of the book: what each one says in tables and sentences, computed from records."""
