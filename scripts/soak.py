#!/usr/bin/env python3
"""An hour of full load in one process of ours: is its memory flat, are its file handles, and does every count agree?

    make soak                      an hour against the fixture server
    python3 scripts/soak.py --seconds 60 --binary target/debug/mcp-loadtest

First without a trace, then for a tenth of the time with all of it: that of a whole hour would have 70 GB, that of a
tenth has 7, below --work. Prints a table, and fails if a figure is not as it should be.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SERVER = f"python3 {ROOT / 'tests' / 'fixtures' / 'mock-normal.py'}"
# What comes before is warming up: histograms, buffers and the allocator take what they need.
WARM = 0.2
# The last part may have this much more than the first, in MB and as a share: plots grow by a point a second.
MOST_GROWTH_MB, MOST_GROWTH = 8.0, 0.05


def look(pid):
    """Megabytes in memory and open file handles of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(resident.split()[1]) / 1024, len(os.listdir(f"/proc/{pid}/fd"))


def load(arguments, work, seconds, trace):
    """Runs the load and looks at it every now and then: the samples and the summary."""
    command = [
        arguments.binary, "run", "-s", arguments.server, "--tool", "echo", "--args", '{"text":"soak"}',
        "--concurrent", str(arguments.concurrent), "--duration", f"{seconds}s", "--trace", trace,
        "--output-dir", str(work), "--json", "--quiet",
    ]
    samples, every = [], max(0.2, seconds / 600)
    with open(work / "summary.out", "w+") as out:
        process = subprocess.Popen(command, stdout=out)
        while process.poll() is None:
            try:
                samples.append(look(process.pid))
            except (OSError, StopIteration):
                break
            time.sleep(every)
        process.wait()
        out.seek(0)
        return samples, json.load(out)


def count_events(trace):
    """How many events of each kind a trace has. The kind stands near the beginning of a line."""
    counts = {}
    with open(trace, "rb") as lines:
        for line in lines:
            kind = line[:80].split(b'"kind":"', 1)[1].split(b'"', 1)[0].decode()
            counts[kind] = counts.get(kind, 0) + 1
    return counts


def mean(numbers):
    return sum(numbers) / len(numbers)


def judge_process(samples, summary):
    """Rows of a table: what, what was seen, whether it is as it should be."""
    warm = samples[int(len(samples) * WARM):]
    third = max(1, len(warm) // 3)
    first, last = mean([mb for mb, _ in warm[:third]]), mean([mb for mb, _ in warm[-third:]])
    handles = sorted({handles for _, handles in warm[:-1]})
    yield "calls", f"{summary['requests']:,}", summary["requests"] > 0
    yield "failures", f"{summary['errors']:,}", summary["errors"] == 0
    yield "memory, first and last third", f"{first:.1f} and {last:.1f} MB", last - first < max(MOST_GROWTH_MB, first * MOST_GROWTH)
    yield "file handles", f"{handles[0]} to {handles[-1]}", handles[-1] - handles[0] <= 2


def judge_counts(arguments, summary):
    """Whether the trace has every call once, by its lines and by what `report` makes of them."""
    run = Path(summary["run_dir"])
    metrics = json.loads((run / "metrics.json").read_text())
    by_tool = sum(tool["total_requests"] for tool in metrics["tools"])
    yield "calls by tool", f"{by_tool:,}", by_tool == summary["requests"]
    if not (run / "trace.jsonl").is_file():
        return
    counts = count_events(run / "trace.jsonl")
    # One more or two: the handshake and the list of tools.
    extra = counts["response"] - summary["requests"]
    yield "requests and replies in the trace", f"{counts['request']:,} and {counts['response']:,}", counts["request"] == counts["response"] and 0 < extra < 10
    command = [arguments.binary, "report", str(run), "--from-trace", "--json"]
    again = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout)
    same = all(again[key] == summary[key] for key in ("requests", "ok", "errors", "p50_ms", "p99_ms", "p999_ms"))
    yield "calls by the trace alone", f"{again['requests']:,}", same


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--binary", default=str(ROOT / "target" / "release" / "mcp-loadtest"))
    options.add_argument("--server", default=SERVER)
    options.add_argument("--seconds", type=int, default=3600)
    options.add_argument("--concurrent", type=int, default=64)
    options.add_argument("--work", help="where the run is written; removed in the end")
    arguments = options.parse_args()
    wrong = 0
    for trace, seconds in (("off", arguments.seconds), ("full", max(1, arguments.seconds // 10))):
        work = Path(tempfile.mkdtemp(prefix="soak-", dir=arguments.work))
        try:
            samples, summary = load(arguments, work, seconds, trace)
            rows = [*judge_process(samples, summary), *judge_counts(arguments, summary)]
        finally:
            shutil.rmtree(work, ignore_errors=True)
        print(f"trace {trace}, {seconds} s", flush=True)
        for what, seen, is_right in rows:
            print(f"  {'ok' if is_right else 'NO'}  {what}: {seen}", flush=True)
            wrong += not is_right
    sys.exit(min(wrong, 1))


if __name__ == "__main__":
    main()
