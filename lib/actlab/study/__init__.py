"""Studies: the only place where names become objects."""
