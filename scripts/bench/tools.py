"""The programs that take part: mcp-loadtest, the bench's own servers and pump, wrk and oha."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from measure import GENERATOR_CORE, SERVER_CORE, measure, pinned, raise_open_files

ROOT = Path(__file__).resolve().parent.parent.parent
BODY = '{"jsonrpc":"2.0","id":1000000,"method":"tools/call","params":{"arguments":{},"name":"echo"}}'
WRK_SCRIPT = f"""\
wrk.method = "POST"
wrk.body = '{BODY}'
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = "application/json, text/event-stream"
"""
BUILT = (
    ("-p", "mcp-loadtest-cli", "--bin", "mcp-loadtest"),
    ("-p", "mcp-loadtest", "--example", "bench_echo"),
    ("-p", "mcp-loadtest-core", "--example", "pieces"),
    ("-p", "mcp-loadtest-mock", "--example", "bare_hyper", "--example", "llm_streams"),
)


class Tools:
    def __init__(self, target_dir, scratch):
        self.scratch, release = scratch, target_dir / "release"
        self.ours = str(release / "mcp-loadtest")
        self.echo = str(release / "examples" / "bench_echo")
        self.pieces = str(release / "examples" / "pieces")
        self.bare_hyper = str(release / "examples" / "bare_hyper")
        self.llm_streams = str(release / "examples" / "llm_streams")
        self.wrk = shutil.which("wrk")
        installed = target_dir / "bench-tools" / "bin"
        self.oha = shutil.which("oha") or shutil.which("oha", path=str(installed))
        self.llmposter = shutil.which("llmposter") or shutil.which("llmposter", path=str(installed))
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

    def run_wrk(self, url, connections, seconds, wrapper=()):
        command = [*wrapper, self.wrk, "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(self.wrk_script), url]
        usage = measure(pinned(GENERATOR_CORE, command))
        line = next(line for line in usage.output.splitlines() if " requests in " in line)
        return usage, int(line.split()[0])

    def run_oha(self, url, connections, seconds):
        command = [self.oha, "--no-tui", "--output-format", "json", "-c", str(connections), "-z", f"{seconds}s", "-m", "POST"]
        command += ["-T", "application/json", "-H", "Accept: application/json, text/event-stream", "-d", BODY, url]
        usage = measure(pinned(GENERATOR_CORE, command))
        return usage, sum(json.loads(usage.output)["statusCodeDistribution"].values())

    def pump(self, requests, in_flight, pieces=1, wrapper=()):
        """Bytes out and line ends counted; every reply read at once is answered in so many writes."""
        server = pinned(SERVER_CORE, [self.echo, "stdio"])
        command = [*wrapper, self.echo, "pump", str(requests), str(in_flight), str(pieces), "--", *server]
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


def build(target_dir):
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target_dir)}
    for what in BUILT:
        subprocess.run(["cargo", "build", "--release", *what], cwd=ROOT, env=environment, check=True)


def cargo_install(*what):
    def install(target_dir):
        root = target_dir / "bench-tools"
        subprocess.run(["cargo", "install", *what, "--locked", "--root", str(root)], check=True)

    return install


INSTALLERS = {
    "oha": cargo_install("oha"),
    "llmposter": cargo_install("llmposter", "--version", "0.5.0"),
    "wrk": lambda _: subprocess.run(["apt-get", "install", "-y", "wrk"], check=True),
}


def say_what_is_missing(tools):
    unbuilt = [program for program in (tools.ours, tools.echo, tools.pieces) if not Path(program).is_file()]
    if unbuilt:
        sys.exit(f"bench: not built: {', '.join(unbuilt)}; leave out `--no-build`")
    hints = {
        "wrk": (tools.wrk, "`--install wrk`, or `apt-get install wrk`: no ratios for HTTP without it"),
        "oha": (tools.oha, "`--install oha` gets it: optional, one more tool to compare with"),
        "llmposter": (tools.llmposter, "`--install llmposter` gets it: the mock of models has nothing to be held against"),
        "valgrind": (shutil.which("valgrind"), "`apt-get install valgrind`: no instruction counts without it"),
        "taskset": (shutil.which("taskset"), "`apt-get install util-linux`: nothing is pinned to cores without it"),
    }
    for name, (found, hint) in hints.items():
        if not found:
            print(f"bench: {name} is missing; {hint}", file=sys.stderr)
