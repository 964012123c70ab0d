"""The book: executed notebooks laid beside the written pages. ``build`` is ``actlab book``, ``extension`` is Sphinx's
way in: one code path."""
