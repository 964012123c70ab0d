"""What a reader moves with the mouse: charts in a page, and live panels in a notebook. They compute no result."""
