"""What a reader moves with the mouse: widgets of the live notebook, and their published forms."""
