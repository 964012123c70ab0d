"""Parts of a user's own: plug-in files."""
