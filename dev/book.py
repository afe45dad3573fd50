"""Builds the book as HTML and checks every link of it: `python3 dev/book.py [MDBOOK]`, into target/book-html.

mdBook is `cargo install mdbook --locked --no-default-features --features search`, some minutes. Links that lead out of docs/
become links to the repository; of the others every file and every anchor must be there.
"""

import html.parser
import pathlib
import re
import subprocess
import sys
import tomllib
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[1]
MDBOOK = sys.argv[1] if len(sys.argv) > 1 else "mdbook"
SETTINGS = tomllib.loads((ROOT / "book.toml").read_text())
OUT = ROOT / SETTINGS["build"]["build-dir"]
REPOSITORY = SETTINGS["output"]["html"]["git-repository-url"]


class Page(html.parser.HTMLParser):
    """What a page links to, and its anchors."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.anchors.add(named.get("id"))
        self.links += [named[name] for name in ("href", "src") if named.get(name)]


def lead_out(path):
    """Links above docs/ lead to the repository."""
    text = path.read_text()
    up = "../" * len(path.relative_to(OUT).parts)
    path.write_text(re.sub(rf'((?:href|src)="){re.escape(up)}', rf"\1{REPOSITORY}/blob/main/", text))


def main():
    subprocess.run([MDBOOK, "build", str(ROOT)], check=True)
    paths = sorted(OUT.rglob("*.html"))
    for path in paths:
        lead_out(path)
    pages = {path: Page(path) for path in paths}
    checked, broken = 0, []
    for path, page in pages.items():
        # A page that mdBook makes of nothing but its template.
        if path.name in ("404.html", "toc.html"):
            continue
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            anchors = pages[target].anchors if target in pages else {parts.fragment}
            checked += 1
            if not target.exists() or parts.fragment and urllib.parse.unquote(parts.fragment) not in anchors:
                broken.append(f"{path.relative_to(OUT)}: {link}")
    summary = re.findall(r"\]\(([^)]+)\.md\)", (ROOT / "docs/SUMMARY.md").read_text())
    broken += [f"SUMMARY.md: {name} was not built" for name in summary if OUT / f"{name}.html" not in pages]
    print("\n".join(broken) if broken else f"{len(pages)} pages, {checked} links that resolve")
    sys.exit(bool(broken))


main()
