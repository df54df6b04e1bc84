#!/usr/bin/env python3
"""Measures what the generator costs: `make bench`. Prints tables; judges nothing but the goals.

Rates move with the machine and its neighbours; what counts are ratios between tools that ran in
turns, CPU per request and instruction counts. Servers and generator are pinned to different cores.
Standard library only; wrk, oha and valgrind are used where they are installed.
"""

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path

import counts
import live
import llm
import memory
import mock
import open_model
import over_http
import over_stdio
from goals import print_goals
from tools import INSTALLERS, ROOT, Tools, build, say_what_is_missing

SECTIONS = {
    "http": lambda tools, args, figures: over_http.bench(tools, args.rounds, args.seconds, figures),
    "stdio": lambda tools, args, figures: over_stdio.bench(tools, args.rounds, args.seconds, figures),
    "open": lambda tools, args, figures: open_model.bench(tools, args.rounds, args.seconds, figures),
    "instructions": lambda tools, args, figures: shutil.which("valgrind") and counts.bench(tools, figures),
    "pieces": lambda tools, args, figures: counts.bench_pieces(tools, args.rounds, shutil.which("valgrind")),
    "memory": lambda tools, args, figures: memory.bench(tools, figures),
    "live": lambda tools, args, figures: live.bench(tools, args.rounds, args.seconds, figures),
    "mock": lambda tools, args, figures: mock.bench(tools, args.rounds, args.seconds, figures),
    "llm": lambda tools, args, figures: llm.bench(tools, args.rounds, args.seconds, figures),
}


def arguments():
    parser = argparse.ArgumentParser(
        prog="bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="rounds in which the tools take turns [5]")
    parser.add_argument("--seconds", type=int, default=3, help="how long each tool runs in a round [3]")
    parser.add_argument("--only", choices=SECTIONS, action="append", help="only this section; repeatable")
    parser.add_argument("--no-build", action="store_true", help="take the programs as they are")
    parser.add_argument("--install", choices=INSTALLERS, action="append", default=[],
                        help="get this first: oha and llmposter under target/bench-tools, wrk by apt; repeatable")
    return parser.parse_args()


def main():
    args = arguments()
    target_dir = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
    for name in args.install:
        INSTALLERS[name](target_dir)
    if not args.no_build:
        build(target_dir)
    figures = {}
    with tempfile.TemporaryDirectory(prefix="mcp-loadtest-bench-") as scratch:
        tools = Tools(target_dir, Path(scratch))
        say_what_is_missing(tools)
        load = os.getloadavg()[0]
        print(f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, load average {load:.1f} at the start")
        for name, section in SECTIONS.items():
            if name in (args.only or SECTIONS):
                section(tools, args, figures)
    print_goals(figures)


if __name__ == "__main__":
    main()
