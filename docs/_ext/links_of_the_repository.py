"""Links that work in the repository and on the site.

Pages are read in both. A link to a file above ``docs`` (``../CHANGES.md``) leads to its
page on the site where it has one, and is plain text where it has none.
"""

import re

PAGES = {
    "CHANGES.md": "/changelog.md",
    "CONTRIBUTING.md": "/contributing.md",
    "SECURITY.md": "/security.md",
    "CITATION.cff": "/citing.md",
    "README.md": "/index.md",
}
_LINK = re.compile(
    r"\[([^\]]*)\]\((?:\.\./)+([A-Z][^)#\s/]+|(?:scedae|benchmarks|tests|examples)/[^)\s]*)\)"
)


def _lead(match):
    words, path = match.groups()
    return f"[{words}]({PAGES[path]})" if path in PAGES else words


def rewrite(app, docname, source):
    if app.env.doc2path(docname).suffix == ".md":
        source[0] = _LINK.sub(_lead, source[0])


def setup(app):
    app.connect("source-read", rewrite)
    return {"parallel_read_safe": True}
