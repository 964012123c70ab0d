"""How the book is made: ``build`` is ``actlab book``, ``extension`` is Sphinx's way in; both take one path."""
