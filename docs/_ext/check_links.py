"""Every link inside the built site leads somewhere: ``check_links.py FOLDER``.

Sphinx checks what it resolves itself. This reads the pages as a browser gets them:
files, anchors and pictures, those of the theme and the gallery included. Nothing
outside the folder is asked for.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors.update(found[key] for key in ("id", "name") if found.get(key))
        for key in ("href", "src"):
            if found.get(key) and tag != "link":
                self.links.append(found[key])


def broken(folder):
    """(page, link) of every link that leads nowhere."""
    pages = {
        path.resolve(): _Page(path)
        for path in sorted(folder.rglob("*.html"))
        if "_static" not in path.relative_to(folder).parts
    }
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link in ("#", "javascript:"):
                continue
            target = (
                (path.parent / unquote(parts.path)).resolve() if parts.path else path
            )
            anchor = unquote(parts.fragment)
            known = pages.get(target)
            if not target.exists() or (
                anchor and known is not None and anchor not in known.anchors
            ):
                yield path.relative_to(folder.resolve()), link


def main():
    found = list(broken(Path(sys.argv[1])))
    for page, link in found:
        sys.stderr.write(f"{page}: {link} leads nowhere\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
