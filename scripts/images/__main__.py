#!/usr/bin/env python3
"""Makes the pictures in docs/images/: report.html of two runs and of several servers, the page of `--web`, the
screen of `--tui`.

    python3 scripts/images [--binary target/release/mcp-loadtest] [--only report|compared|web|tui]

Needs the environments `browser`, `chromium` and `tmux` of tests/env/testenv.py. Takes four minutes.
"""

import argparse
from pathlib import Path

import compared
import report
import tui
import web
from shots import IMAGES, ROOT, Shots

PICTURES = {"report": report.take, "compared": compared.take, "web": web.take, "tui": tui.take}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "mcp-loadtest")
    parser.add_argument("--only", choices=PICTURES, action="append", help="only this; repeatable")
    args = parser.parse_args()
    IMAGES.mkdir(parents=True, exist_ok=True)
    shots = Shots(args.binary.resolve())
    for name, take in PICTURES.items():
        if name in (args.only or PICTURES):
            take(shots)


if __name__ == "__main__":
    main()
