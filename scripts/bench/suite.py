"""A thousand tool tests over stdio against our own mock, side by side with mcptest where it is installed.

    python3 scripts/bench/suite.py [--tests 1000] [--runs 5] [--binary target/release/mcp-loadtest]

`cargo install mcptest --version 1.3.0 --locked` takes most of an hour; without it our own figures are shown.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def suite(binary, tests):
    """The same file for both: no key that only one of them knows."""
    cases = [
        {"name": f"echo {at}", "server": "mock", "tool": "echo", "args": {"message": f"m{at}"}}
        for at in range(tests)
    ]
    return {"servers": {"mock": {"command": [str(binary), "mock"]}}, "tools": cases}


def measure(command):
    """Wall time, CPU time of it and its children, and its own largest memory."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read().decode(errors="replace")
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{' '.join(command)} failed:\n{said[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    return wall, cpu, used.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--binary", type=Path, default=ROOT / "target/release/mcp-loadtest")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "suite.yml"
        file.write_text(json.dumps(suite(options.binary.resolve(), options.tests)))
        subjects = {"mcp-loadtest": [str(options.binary), "test", str(file)]}
        if theirs := shutil.which("mcptest"):
            subjects["mcptest"] = [theirs, "run", str(file)]
        print(f"{options.tests} tool tests over stdio, median of {options.runs} runs\n")
        print(f"{'':<14} {'wall s':>8} {'CPU s':>8} {'RSS MB':>8}")
        for name, command in subjects.items():
            runs = [measure(command) for _ in range(options.runs)]
            wall, cpu, memory = (statistics.median(column) for column in zip(*runs))
            print(f"{name:<14} {wall:>8.2f} {cpu:>8.2f} {memory:>8.1f}")
        if not theirs:
            print("\nmcptest is not installed: nothing to compare with")


if __name__ == "__main__":
    main()
