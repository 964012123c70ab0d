"""Where the book will be read: with its address (``[tool.actlab]`` of pyproject.toml) pages have a canonical link,
pictures a whole address, and the book a sitemap; without one there is none of these."""

import tomllib
from html import escape
from pathlib import Path
from typing import Any

from actlab import paths
from actlab.files import write_text


def addresses() -> dict[str, str]:
    """``repository``, ``site`` and ``doi`` of the project; empty where they are not known yet."""
    settings = tomllib.loads((paths.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: dict[str, str] = settings["tool"]["actlab"]
    return found


def say_site(app: Any, config: Any) -> None:
    """Sphinx makes canonical links, and its extension Open Graph addresses, of the site's."""
    if site := addresses()["site"]:
        config.html_baseurl = config.ogp_site_url = f"{site}/"


def write_sitemap(app: Any) -> None:
    """Every page, for search engines; addresses that moved are left out."""
    if not app.config.html_baseurl:
        return
    pages = sorted(app.env.found_docs)
    lines = "".join(f"<url><loc>{escape(app.config.html_baseurl + page)}.html</loc></url>\n" for page in pages)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    write_text(Path(app.outdir) / "sitemap.xml", f"{head}{lines}</urlset>\n")
