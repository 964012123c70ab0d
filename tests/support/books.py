"""A small book with the real settings and style. Not a test."""

import shutil

from actlab import paths


def book_of(root, *pages, intro="# Intro\n"):
    """Lay out a book of these pages below a folder, with the real settings and style; its folder."""
    book = root / "book"
    shutil.copytree(paths.ROOT / "book/_static", book / "_static")
    shutil.copytree(paths.ROOT / "book/_ext", book / "_ext")
    for name in ("references.bib", "dataset.py", "findings.py", "pictures.py"):
        shutil.copy(paths.ROOT / "book" / name, book)
    shutil.copy(paths.ROOT / "_config.yml", book / "_config.yml")
    toc = "".join(f"- file: {page}\n" for page in pages)
    (book / "_toc.yml").write_text(f"format: jb-book\nroot: intro\nchapters:\n{toc}")
    (book / "intro.md").write_text(intro)
    return book
