#!/usr/bin/env python3
"""Probes every server of tests/real/servers.json and compares what it finds with what the table expects.

    probe-real-servers.py [NAME...] [--binary target/release/mcp-loadtest]

Prints one line per server; the exit code is 1 if any differs. A difference is a wrong era, revision or
number of tools, a probe that does not end, and a bug found in a server that has none (or nothing found in
one that has). Warnings are listed: each must be true of its server.
"""

import argparse
import contextlib
import json
import os
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

ROOT = Path(__file__).resolve().parents[1]
SERVERS = ROOT / "tests" / "real" / "servers.json"
TESTENV = ROOT / "tests" / "env" / "testenv.py"
INSTALLED = ROOT / "target" / "testenv"
PROBE_LIMIT_S = 180  # The slowest server needs 22 s to start, and each of its tools a while.
START_LIMIT_S = 60
COLUMNS = "{:<26} {:<7} {:<11} {:>5} {:>6} {:>7} {:>8}  {}"


@dataclass
class Outcome:
    """What one probe said, and where that differs from what was expected."""

    report: dict = field(default_factory=dict)
    differences: list = field(default_factory=list)

    @property
    def tools(self):
        return self.report.get("tools") or []

    def findings(self, severity):
        findings = self.report.get("findings") or []
        return [finding for finding in findings if finding.get("severity") == severity]

    def expect(self, what, expected, actual):
        if expected != actual:
            self.differences.append(f"{what} is {actual}, expected {expected}")


def make_work_folder(work):
    """What the servers work on: a git repository, two databases, a text file."""
    repository = work / "repo"
    repository.mkdir()
    (repository / "f").write_text("hello\n")
    git = ["git", "-C", repository, "-c", "user.name=probe", "-c", "user.email=probe@localhost"]
    for command in (["init", "--quiet"], ["add", "f"], ["commit", "--quiet", "--message", "first"]):
        subprocess.run([*git, *command], check=True)
    for name in ("a.db", "b.db"):
        with contextlib.closing(sqlite3.connect(work / name)) as database:
            database.executescript("create table t (x integer); insert into t values (1);")
    (work / "notes.txt").write_text("one\ntwo\n")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def end(process):
    """Ends the process and its children; SIGKILL, because nothing of it is needed any more."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextlib.contextmanager
def http_server(command, environment, work, port):
    """Runs the server until the block ends; raises `TimeoutError` if it never listens."""
    with open(work / "server.log", "wb") as log:
        process = subprocess.Popen(
            command,
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        wait_for_listener(process, port)
        yield
    finally:
        end(process)


def wait_for_listener(process, port):
    deadline = time.monotonic() + START_LIMIT_S
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise TimeoutError(f"the server does not listen; its exit code is {process.returncode}")


def run_probe(command, environment, work):
    """The JSON that the probe prints; raises `TimeoutError` or `ValueError` if there is none."""
    process = subprocess.Popen(
        command,
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(timeout=PROBE_LIMIT_S)
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"the probe does not end within {PROBE_LIMIT_S} s") from None
    finally:
        end(process)
    try:
        return json.loads(stdout)
    except ValueError:
        said = (stderr or stdout).decode(errors="replace").strip().splitlines()[-1:] or ["nothing"]
        raise ValueError(f"no JSON, exit code {process.returncode}, last words: {said[0]}") from None


def probe(binary, server, work):
    """Probes one server, over its own transport, in a fresh work folder."""
    make_work_folder(work)
    port = free_port()
    values = {"ENV_DIR": INSTALLED / server["environment"], "WORK": work, "PORT": port}
    command = [Template(word).substitute(values) for word in server["argv"]]
    settings = {name: Template(value).substitute(values) for name, value in server.get("env", {}).items()}
    environment = os.environ | settings
    if server["transport"] == "stdio":
        # Servers inherit only what MCP clients pass on, so what they need is named.
        named = [word for name, value in settings.items() for word in ("--env", f"{name}={value}")]
        return run_probe([binary, "probe", "--json", "-s", shlex.join(command), *named], environment, work)
    with http_server(command, environment, work, port):
        transport = {"streamable-http": "http"}.get(server["transport"], server["transport"])
        scheme = "ws" if transport == "ws" else "http"
        url = f"{scheme}://127.0.0.1:{port}{server['path']}"
        command = [binary, "probe", "--json", "--transport", transport, "--url", url]
        return run_probe(command, environment, work)


def judge(server, report):
    """Compares a report with the table."""
    outcome = Outcome(report)
    expected = server["expected"]
    outcome.expect("era", expected["era"], report.get("era"))
    outcome.expect("revision", expected["revision"], report.get("revision"))
    outcome.expect("number of tools", expected["tools"], len(outcome.tools))
    excused = server.get("network_tools", [])
    for tool in outcome.tools:
        hung = tool.get("verdict") == "hung" and tool.get("name") not in excused and "*" not in excused
        if hung or tool.get("verdict") == "crashed":
            outcome.differences.append(f"{tool['verdict']} in `{tool.get('name')}`: {tool.get('reason', '')}")
    bugs, warnings = outcome.findings("critical"), outcome.findings("warning")
    if "alarm" not in expected:
        for bug in bugs:
            outcome.differences.append(f"false alarm `{bug.get('id')}`: {bug.get('message')}")
    elif not bugs and not warnings:
        outcome.differences.append(f"no alarm, but the server {expected['alarm']}")
    return outcome


def check(binary, server):
    with tempfile.TemporaryDirectory(prefix="probe-") as folder:
        try:
            return judge(server, probe(binary, server, Path(folder)))
        except (TimeoutError, ValueError) as error:
            return Outcome(differences=[str(error)])


def print_row(server, outcome):
    skipped = sum(tool.get("verdict") == "skipped" for tool in outcome.tools)
    print(
        COLUMNS.format(
            server["name"],
            outcome.report.get("era") or "-",
            outcome.report.get("revision") or "-",
            len(outcome.tools),
            len(outcome.tools) - skipped,
            skipped,
            len(outcome.report.get("findings") or []),
            "DIFF" if outcome.differences else "OK",
        ),
        flush=True,
    )
    for difference in outcome.differences:
        print(f"    {difference}", flush=True)
    for warning in outcome.findings("warning"):
        print(f"    warning `{warning.get('id')}`: {warning.get('message', '')[:160]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these servers")
    parser.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "mcp-loadtest")
    arguments = parser.parse_args()
    servers = json.loads(SERVERS.read_text())["servers"]
    if unknown := set(arguments.names) - {server["name"] for server in servers}:
        parser.error(f"no such server: {', '.join(sorted(unknown))}")
    if not arguments.binary.is_file():
        parser.error(f"`{arguments.binary}` is missing; try: cargo build --release")
    selected = [server for server in servers if not arguments.names or server["name"] in arguments.names]
    environments = sorted({server["environment"] for server in selected})
    subprocess.run([sys.executable, TESTENV, "ensure", *environments], check=True)

    print(COLUMNS.format("name", "era", "revision", "tools", "called", "skipped", "findings", "verdict"))
    differ = 0
    for server in selected:
        outcome = check(arguments.binary.resolve(), server)
        print_row(server, outcome)
        differ += bool(outcome.differences)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
