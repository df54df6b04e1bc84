#!/usr/bin/env python3
"""Measures what the generator costs: `make bench`. Prints tables; judges nothing but the goals below.

Rates move with the machine and its neighbours; what counts are ratios between tools that ran in
turns, CPU per request and instruction counts. Servers and generator are pinned to different cores.
Standard library only; wrk and valgrind are used where they are installed.
"""

import argparse
import json
import os
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GENERATOR_CORE, SERVER_CORE = 0, 1
HTTP_CONNECTIONS = (1, 16, 64, 256)
STDIO_IN_FLIGHT = (1, 16, 64, 1000)
COUNTED = 64
MANY = (1000, 10_000)
OPEN_FILES = 65_536
# How long a run under callgrind lasts; the shorter one is subtracted from the longer one.
COUNTED_SECONDS = (2, 6)
WRK_SCRIPT = """\
wrk.method = "POST"
wrk.body = '{"jsonrpc":"2.0","id":1000000,"method":"tools/call","params":{"arguments":{},"name":"echo"}}'
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = "application/json, text/event-stream"
"""


class Usage:
    """What one process cost, and what it said."""

    def __init__(self, output, errors, used, peak_kb):
        self.output, self.errors, self.peak_kb = output, errors, peak_kb
        self.cpu = used.ru_utime + used.ru_stime


def pinned(core, command):
    """The command, on one core, where there are two and a tool to pin with."""
    if shutil.which("taskset") and (os.cpu_count() or 1) > 1:
        return ["taskset", "-c", str(core), *command]
    return list(command)


def raise_open_files():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def wait(pid, watch_memory):
    """The end of a process. `ru_maxrss` would begin with what we ourselves had when we forked."""
    peak_kb = 0
    while watch_memory:
        try:
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            break
        peaks = [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")]
        if not peaks:
            break
        peak_kb = max(peak_kb, *peaks)
        time.sleep(0.05)
    _, status, used = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), used, peak_kb


def measure(command, watch_memory=False):
    """Runs a command to its end. Its CPU time includes children that it waited for."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        process.returncode, used, peak_kb = wait(process.pid, watch_memory)
        out.seek(0)
        err.seek(0)
        usage = Usage(out.read(), err.read(), used, peak_kb)
    # 1 is a verdict on the server, such as a latency limit that a busy machine did not keep.
    if process.returncode not in (0, 1) or not usage.output:
        sys.exit(f"bench: {shlex.join(command)} ended with {process.returncode}:\n{usage.errors}")
    return usage


class Tools:
    """The programs that take part."""

    def __init__(self, target_dir, scratch):
        self.scratch = scratch
        self.ours = str(target_dir / "release" / "mcp-loadtest")
        self.echo = str(target_dir / "release" / "examples" / "bench_echo")
        self.wrk_script = scratch / "wrk.lua"
        self.wrk_script.write_text(WRK_SCRIPT)

    def run(self, server, in_flight, seconds, trace, wrapper=(), watch_memory=False):
        """One run of mcp-loadtest: its usage and its summary."""
        out = self.scratch / "runs"
        command = [
            *wrapper, self.ours, "run", *server, "--protocol", "2025-11-25", "--threads", "1", "--concurrent", str(in_flight),
            "--duration", f"{seconds}s", "--tool", "echo", "--trace", trace, "--output-dir", str(out), "--json", "--quiet",
            # Ten thousand connections may take long to be made; that is no finding about the server.
            "--hang-timeout", "60s", "--p99-latency", "60s",
        ]
        usage = measure(pinned(GENERATOR_CORE, command), watch_memory)
        shutil.rmtree(out, ignore_errors=True)
        summary = json.loads(usage.output)
        if summary["errors"]:
            print(f"bench: {summary['errors']} of {summary['requests']} calls failed: {summary['findings']}", file=sys.stderr)
        return usage, summary

    def stdio(self):
        return ["--server", shlex.join(pinned(SERVER_CORE, [self.echo, "stdio"]))]

    def wrk(self, url, connections, seconds):
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(self.wrk_script), url]
        usage = measure(pinned(GENERATOR_CORE, command))
        line = next(line for line in usage.output.splitlines() if " requests in " in line)
        return usage, int(line.split()[0])

    def oha(self, url, connections, seconds):
        command = ["oha", "--no-tui", "--output-format", "json", "-c", str(connections), "-z", f"{seconds}s", "-m", "POST"]
        command += ["-T", "application/json", "-d", WRK_SCRIPT.split("'")[1], url]
        usage = measure(pinned(GENERATOR_CORE, command))
        return usage, sum(json.loads(usage.output)["statusCodeDistribution"].values())

    def pump(self, count, in_flight, wrapper=()):
        server = pinned(SERVER_CORE, [self.echo, "stdio"])
        command = [*wrapper, self.echo, "pump", str(count), str(in_flight), "--", *server]
        usage = measure(pinned(GENERATOR_CORE, command))
        return usage, json.loads(usage.output)


class HttpServer:
    """The bench's own HTTP server, for as long as the block lasts."""

    def __init__(self, tools):
        command = pinned(SERVER_CORE, [tools.echo, "http", "0"])
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=raise_open_files)
        self.url = json.loads(self.process.stdout.readline())["url"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def table(title, heads, rows):
    print(f"\n## {title}\n")
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    sys.stdout.flush()


def median(values):
    return statistics.median(values)


def paired(values, base):
    """The median of the ratios of rounds that ran one after the other."""
    return median([mine / theirs for mine, theirs in zip(values, base)])


# ---- HTTP ----


def http_tools(tools, url, seconds):
    """Every tool as a function from connections to (requests, CPU seconds)."""

    def ours(trace):
        def run(connections):
            usage, summary = tools.run(["--url", url], connections, seconds, trace)
            return summary["requests"], usage.cpu

        return run

    def other(tool):
        def run(connections):
            usage, requests = tool(url, connections, seconds)
            return requests, usage.cpu

        return run

    found = {"trace off": ours("off"), "trace full": ours("full")}
    for name, tool in (("oha", tools.oha), ("wrk", tools.wrk)):
        if shutil.which(name):
            found = {name: other(tool), **found}
    return found


def bench_http(tools, rounds, seconds, figures):
    rows = []
    with HttpServer(tools) as server:
        contestants = http_tools(tools, server.url, seconds)
        for connections in HTTP_CONNECTIONS:
            rates, costs = {name: [] for name in contestants}, {name: [] for name in contestants}
            for _ in range(rounds):
                for name, run in contestants.items():
                    requests, cpu = run(connections)
                    rates[name].append(requests / seconds)
                    costs[name].append(cpu / requests * 1e6)
            rows += http_rows(connections, rates, costs, figures)
    heads = ["connections", "tool", "req/s", "x wrk", "CPU µs/req", "x wrk"]
    table(f"HTTP, one thread, {rounds} rounds of {seconds} s in turns: medians", heads, rows)


def http_rows(connections, rates, costs, figures):
    rows = []
    for name in rates:
        rate = cost = None
        if "wrk" in rates:
            rate, cost = paired(rates[name], rates["wrk"]), paired(costs[name], costs["wrk"])
            figures[f"http {name} rate {connections}"] = rate
            figures[f"http {name} cpu {connections}"] = cost
        if "oha" in rates:
            figures[f"http {name} oha {connections}"] = paired(rates[name], rates["oha"])
        cells = [f"{median(rates[name]):,.0f}", ratio(rate), f"{median(costs[name]):.2f}", ratio(cost)]
        rows.append([connections, name, *cells])
    return rows


def ratio(value):
    return "–" if value is None else f"{value:.2f}"


# ---- stdio ----


def bench_stdio(tools, rounds, seconds, figures):
    rows = []
    for in_flight in STDIO_IN_FLIGHT:
        _, trial = tools.pump(20_000, in_flight)
        count = max(20_000, int(seconds * trial["requests"] / trial["seconds"]))
        rates, costs = {"pump": [], "off": [], "full": []}, {"pump": [], "off": [], "full": []}
        for _ in range(rounds):
            usage, pumped = tools.pump(count, in_flight)
            rates["pump"].append(pumped["requests"] / pumped["seconds"])
            costs["pump"].append(usage.cpu / pumped["requests"] * 1e6)
            for trace in ("off", "full"):
                usage, summary = tools.run(tools.stdio(), in_flight, seconds, trace)
                rates[trace].append(summary["requests"] / seconds)
                costs[trace].append(usage.cpu / summary["requests"] * 1e6)
        names = {"pump": "limit (pump)", "off": "trace off", "full": "trace full"}
        for name, values in rates.items():
            share = paired(values, rates["pump"])
            figures[f"stdio {name} rate {in_flight}"] = share
            rows.append([in_flight, names[name], f"{median(values):,.0f}", f"{share:.2f}", f"{median(costs[name]):.2f}"])
        added = median([full - off for full, off in zip(costs["full"], costs["off"])])
        figures[f"trace µs {in_flight}"] = added
    heads = ["in flight", "tool", "req/s", "x limit", "CPU µs/req with the server's"]
    table(f"stdio, one child, {rounds} rounds of {seconds} s in turns: medians", heads, rows)
    bench_trace(figures)


def bench_trace(figures):
    """A call makes two events; what they cost is what a run with a trace costs more."""
    rows = []
    for in_flight in (64, 1000):
        added = figures[f"trace µs {in_flight}"]
        events = 2e6 / added if added > 0 else float("inf")
        figures[f"trace events {in_flight}"] = events
        rows.append([in_flight, f"{added:.2f}", f"{events / 1e6:.1f}"])
    heads = ["calls in flight over stdio", "CPU µs added to a call (2 events)", "million events/s per core"]
    table("Trace to disk, writer thread included", heads, rows)


# ---- Instructions ----

CALLGRIND = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")


def collected(usage):
    line = next(line for line in usage.errors.splitlines() if "Collected :" in line)
    return int(line.split()[-1])


def instructions(run):
    """Per request: the difference of a long and a short run, so that starting up cancels out."""
    short, long = (run(seconds) for seconds in COUNTED_SECONDS)
    return (long[0] - short[0]) / (long[1] - short[1])


def count_ours(tools, server, in_flight, trace):
    def run(seconds):
        usage, summary = tools.run(server, in_flight, seconds, trace, CALLGRIND)
        return collected(usage), summary["requests"]

    return instructions(run)


def count_pump(tools, in_flight):
    def run(seconds):
        usage, pumped = tools.pump(10_000 * seconds, in_flight, CALLGRIND)
        return collected(usage), pumped["requests"]

    return instructions(run)


def count_wrk(tools, url):
    def run(seconds):
        command = [*CALLGRIND, "wrk", "-t1", f"-c{COUNTED}", f"-d{seconds}s", "-s", str(tools.wrk_script), url]
        usage = measure(pinned(GENERATOR_CORE, command))
        line = next(line for line in usage.output.splitlines() if " requests in " in line)
        return collected(usage), int(line.split()[0])

    return instructions(run)


def bench_instructions(tools, figures):
    rows = []
    for in_flight in STDIO_IN_FLIGHT:
        counts = [count_pump(tools, in_flight)]
        for trace in ("off", "full"):
            counts.append(count_ours(tools, tools.stdio(), in_flight, trace))
            figures[f"stdio instructions {trace} {in_flight}"] = counts[-1]
        rows.append(["stdio", in_flight, *(f"{count:,.0f}" for count in counts)])
    with HttpServer(tools) as server:
        counts = [count_wrk(tools, server.url) if shutil.which("wrk") else None]
        counts += [count_ours(tools, ["--url", server.url], COUNTED, trace) for trace in ("off", "full")]
        rows.append(["HTTP", COUNTED, *("–" if count is None else f"{count:,.0f}" for count in counts)])
    heads = ["transport", "in flight", "pump / wrk", "trace off", "trace full"]
    table("User instructions per request (callgrind)", heads, rows)


# ---- Memory ----


def bench_memory(tools, figures):
    rows = []
    with HttpServer(tools) as server:
        for name, target in (("HTTP", ["--url", server.url]), ("stdio", tools.stdio())):
            base, _ = tools.run(target, 1, 2, "off", watch_memory=True)
            for in_flight in MANY:
                seconds = 4 if in_flight < 10_000 else 10
                usage, summary = tools.run(target, in_flight, seconds, "off", watch_memory=True)
                each = (usage.peak_kb - base.peak_kb) / (in_flight - 1)
                figures[f"{name} KB {in_flight}"] = each
                peak = [f"{usage_kb / 1024:.1f}" for usage_kb in (base.peak_kb, usage.peak_kb)]
                rows.append([name, in_flight, *peak, f"{each:.2f}", summary["errors"]])
    heads = ["transport", "in flight", "MB with 1 in flight", "MB", "KB each", "errors"]
    table("Memory", heads, rows)


# ---- Goals ----


def goals():
    """What is hoped for: (words, figure, limit, whether less is better)."""
    for connections in (16, 64, 256):
        yield f"HTTP CPU/req at {connections}", f"http trace off cpu {connections}", 1.0, True
    for connections in (16, 64, 256):
        yield f"HTTP CPU/req with full trace at {connections}", f"http trace full cpu {connections}", 1.15, True
    for connections, limit in ((16, 1.0), (64, 1.0), (256, 0.9)):
        yield f"HTTP req/s, x wrk, at {connections}", f"http trace off rate {connections}", limit, False
    for connections in (16, 64, 256):
        yield f"HTTP req/s, x oha, at {connections}", f"http trace off oha {connections}", 1.8, False
    yield "stdio instructions/req at 64", "stdio instructions off 64", 4000, True
    yield "stdio instructions/req with full trace at 64", "stdio instructions full 64", 6500, True
    for in_flight in (1, 16, 64):
        yield f"stdio req/s, x limit, at {in_flight}", f"stdio off rate {in_flight}", 0.7, False
    yield "open model: lag p50 in µs (no scenario has one yet)", "open model lag", 200, True
    yield "KB per HTTP worker at 10,000", "HTTP KB 10000", 5, True
    yield "KB per stdio call at 10,000", "stdio KB 10000", 1.5, True
    yield "trace events/s per core", "trace events 64", 2_000_000, False


def print_goals(figures):
    rows = []
    for words, figure, limit, less in goals():
        seen = figures.get(figure)
        sign = "<=" if less else ">="
        if seen is None:
            rows.append([words, f"{sign} {limit:,}", "–", "not measured"])
            continue
        met = seen <= limit if less else seen >= limit
        shown = f"{seen:,.0f}" if limit >= 100 else f"{seen:.2f}"
        rows.append([words, f"{sign} {limit:,}", shown, "met" if met else "not met"])
    table("Goals", ["what", "goal", "seen", ""], rows)


# ---- All of it ----


def build(target_dir):
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target_dir)}
    for what in (["-p", "mcp-loadtest-cli", "--bin", "mcp-loadtest"], ["-p", "mcp-loadtest", "--example", "bench_echo"]):
        subprocess.run(["cargo", "build", "--release", *what], cwd=ROOT, env=environment, check=True)


def say_what_is_missing():
    hints = {
        "wrk": "`apt-get install wrk`: no ratios for HTTP without it",
        "oha": "`cargo install oha`: optional, one more tool to compare with",
        "valgrind": "`apt-get install valgrind`: no instruction counts without it",
        "taskset": "`apt-get install util-linux`: nothing is pinned to cores without it",
    }
    for name, hint in hints.items():
        if not shutil.which(name):
            print(f"bench: {name} is missing; {hint}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="rounds in which the tools take turns [5]")
    parser.add_argument("--seconds", type=int, default=3, help="how long each tool runs in a round [3]")
    sections = ("http", "stdio", "instructions", "memory")
    parser.add_argument("--only", choices=sections, action="append", help="only this section; repeatable")
    parser.add_argument("--no-build", action="store_true", help="take the programs as they are")
    args = parser.parse_args()

    target_dir = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
    say_what_is_missing()
    if not args.no_build:
        build(target_dir)
    wanted, figures = args.only or sections, {}
    load = os.getloadavg()[0]
    print(f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, load average {load:.1f} at the start")
    with tempfile.TemporaryDirectory(prefix="mcp-loadtest-bench-") as scratch:
        tools = Tools(target_dir, Path(scratch))
        if "http" in wanted:
            bench_http(tools, args.rounds, args.seconds, figures)
        if "stdio" in wanted:
            bench_stdio(tools, args.rounds, args.seconds, figures)
        if "instructions" in wanted and shutil.which("valgrind"):
            bench_instructions(tools, figures)
        if "memory" in wanted:
            bench_memory(tools, figures)
    print_goals(figures)


if __name__ == "__main__":
    main()
