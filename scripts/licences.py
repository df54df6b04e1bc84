#!/usr/bin/env python3
"""Lists the crates that ship in the binary, on any system, by the licence that each is under.

    licences.py [--check]

Writes docs/reference/licences.md; with `--check` it ends with 1 if the page is out of date.
"""

import argparse
import collections
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "licences.md"
BINARY = "mcp-loadtest-cli"
HEAD = """# Licences

The crates that ship in the binary, on any system and with every feature, by the licence that each is
under. Written by `python3 scripts/licences.py`; `cargo deny check licenses` refuses others. uPlot, which
report.html embeds, is under MIT.

"""


def shipped(metadata):
    """The packages that the binary is made of: no development dependencies, no build scripts' own."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    packages = {package["id"]: package for package in metadata["packages"]}
    todo = [package["id"] for package in metadata["packages"] if package["name"] == BINARY]
    seen = set()
    while todo:
        if (node := todo.pop()) in seen:
            continue
        seen.add(node)
        for dependency in nodes[node]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                todo.append(dependency["pkg"])
    return [packages[node] for node in seen if packages[node]["source"] is not None]


def page(packages):
    by_licence = collections.defaultdict(set)
    for package in packages:
        licence = package["license"] or f"see {package['license_file']}"
        by_licence[licence.replace("/", " OR ")].add(f"{package['name']} {package['version']}")
    lines = [f"| {licence} | {len(names)} | {', '.join(sorted(names))} |" for licence, names in by_licence.items()]
    table = ["| licence | crates | which |", "|---|---|---|", *sorted(lines)]
    return HEAD + "\n".join(table) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; say whether the page is fresh")
    arguments = parser.parse_args()
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline", "--all-features"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    text = page(shipped(json.loads(done.stdout)))
    if not arguments.check:
        PAGE.write_text(text)
    elif not PAGE.is_file() or PAGE.read_text() != text:
        sys.exit(f"{PAGE.relative_to(ROOT)} is out of date; try: python3 scripts/licences.py")


if __name__ == "__main__":
    main()
