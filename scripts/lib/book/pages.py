"""Tells MkDocs which documents are pages, in which order and where, and what becomes of a link that leads out of them."""

import html
import os
import re
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files


def on_config(config):
    """The contents, the chapters in order, the deeper texts."""
    docs = Path(config["docs_dir"])
    start = (docs / "book/README.md").read_text(encoding="utf-8")
    chapters = sorted(chapter.name for chapter in docs.glob("book/[0-9]*.md"))
    for chapter in chapters:
        if f"]({chapter})" not in start:
            raise PluginError(f"book/README.md does not name {chapter}")
    deeper = sorted(text.name for text in docs.glob("*.md"))
    config["nav"] = [{"The book": ["book/README.md", *(f"book/{chapter}" for chapter in chapters)]}, {"Deeper": deeper}]
    return config


def on_files(files, config):
    (book,), (deeper,) = (part.values() for part in config["nav"])
    pages = {source: Path(source).stem + ".html" for source in book}
    pages |= {source: f"deeper/{Path(source).stem}.html" for source in deeper}
    pages["book/README.md"] = "index.html"
    kept = []
    for file in files:
        if file.src_path in pages:
            file.dest_path = file.url = pages[file.src_path]
            file.abs_dest_path = os.path.join(config["site_dir"], file.dest_path)
        elif file.abs_src_path.startswith(config["docs_dir"]):
            continue
        kept.append(file)
    return Files(kept)


def on_page_markdown(markdown, page, config, files):
    """A link to a file of the tree, which the pages do not have, becomes its name; one to nowhere fails."""

    def linked(match):
        text, address = match.groups()
        path = os.path.normpath(Path(page.file.abs_src_path).parent / address.partition("#")[0])
        if re.match(r"[a-z]+:|#", address) or os.path.relpath(path, config["docs_dir"]) in files.src_paths:
            return match[0]
        if not os.path.exists(path):
            raise PluginError(f"{page.file.src_path}: the link to {address} leads nowhere")
        return f'<span title="{html.escape(address.lstrip("./"))}">{text}</span>'

    with_boxes = re.sub(r"^( *[*-] )\[ \] ", r"\1☐ ", markdown, flags=re.M)
    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", linked, with_boxes)
