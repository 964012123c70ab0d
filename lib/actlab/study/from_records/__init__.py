"""Back from a record: its networks, trained again or loaded."""
