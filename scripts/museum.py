#!/usr/bin/env python3
"""Tries mcp-loadtest on the releases of tests/museum/manifest.json: bugs must be found, and only those.

    museum.py --binary target/release/mcp-loadtest [--light] [--narrow] [--only ID]... [--write]

Each exhibit is a release with a bug and, where there is one, a release without it. Prints one line
per exhibit; the exit code is 1 if any verdict differs from the manifest. `--narrow` carries out only the
checks that an exhibit is about, which takes seconds in place of a minute. `--write` tells the results in
docs/reference/museum.md.
"""

import argparse
import contextlib
import itertools
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

ROOT = Path(__file__).resolve().parents[1]
MUSEUM = ROOT / "tests" / "museum"
TESTENV = ROOT / "tests" / "env" / "testenv.py"
PAGE = ROOT / "docs" / "reference" / "museum.md"
RUN_LIMIT_S = 900
START_LIMIT = "120s"  # Releases that do not start end at once; others import for seconds, beside other tests.
BLAMES_SERVER = "error: the server"  # With this exit code 2 is about the server, not about our arguments.
SEVERITIES = ["info", "warning", "critical"]
DEPTHS = {"default": ["probe"], "deep": ["probe", "--deep"]}
PORTS = itertools.count()
COLUMNS = "{:<26} {:<34} {:<34} {}"


@dataclass
class Outcome:
    """What mcp-loadtest said of one release: the worst severity by the id of the finding."""

    passed: bool = False
    findings: dict = field(default_factory=dict)
    messages: dict = field(default_factory=dict)

    def add(self, identifier, severity, message):
        rank = SEVERITIES.index(severity)
        if rank >= SEVERITIES.index(self.findings.get(identifier, SEVERITIES[0])):
            self.findings[identifier] = severity
            self.messages[identifier] = message

    def has(self, identifier, severity):
        found = self.findings.get(identifier)
        return found is not None and SEVERITIES.index(found) >= SEVERITIES.index(severity)

    def verdict(self, shows):
        told = [name for name, severity in self.findings.items() if severity != "info" or name in shows]
        words = ", ".join(f"{name} ({self.findings[name]})" for name in told)
        return ("passed" if self.passed else "failed") + (f": {words}" if words else "")


def free_port():
    """A port that nobody has, below those that the system gives out: nobody gets it by chance before we do."""
    while True:
        port = 10_000 + (os.getpid() * 37 + next(PORTS)) % 10_000
        with socket.socket() as listener, contextlib.suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port


def environment_folder(name):
    done = subprocess.run([sys.executable, TESTENV, "path", name], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def subcommand(exhibit):
    return exhibit.get("command", DEPTHS[exhibit["depth"]]) + exhibit.get("options", [])


def narrowed(exhibit):
    """The exhibit with only the checks that it is about; a server that does not start needs none."""
    if "command" in exhibit or "--only" in exhibit.get("options", []):
        return exhibit
    checks = [name for name in exhibit["shows"] if name != "start"] or ["unknown_tool"]
    return exhibit | {"options": exhibit.get("options", []) + ["--only", ",".join(checks)]}


def command_line(binary, exhibit, release, work):
    """The words that run mcp-loadtest on a release, over the release's own transport."""
    values = {
        "ENV_DIR": environment_folder(release["environment"]),
        "SERVERS": MUSEUM / "servers",
        "WORK": work,
        "PORT": free_port(),
    }
    server = shlex.join(Template(word).substitute(values) for word in release["argv"])
    words = [binary, *subcommand(exhibit), "--json", "--startup-timeout", START_LIMIT, "-s", server]
    for name, value in release.get("env", {}).items():
        words += ["--env", f"{name}={Template(value).substitute(values)}"]
    if "path" in release:
        words += ["--transport", release["transport"]]
        words += ["--url", f"http://127.0.0.1:{values['PORT']}{release['path']}"]
    return words


def run(words, work):
    """The exit code and the output of a command, whose whole process group ends with it."""
    process = subprocess.Popen(
        words,
        cwd=work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(timeout=RUN_LIMIT_S)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return process.returncode, stdout.decode(errors="replace"), stderr.decode(errors="replace")


def examine(binary, exhibit, release):
    """Runs mcp-loadtest on a release, in a scratch folder; raises `ValueError` if it says nothing."""
    with tempfile.TemporaryDirectory(prefix="museum-") as work:
        try:
            code, stdout, stderr = run(command_line(binary, exhibit, release, work), work)
        except subprocess.TimeoutExpired:
            raise ValueError(f"no end after {RUN_LIMIT_S} s") from None
    outcome = Outcome()
    first_line = next(iter(stderr.strip().splitlines()), "nothing on stderr")
    if code == 2 and first_line.startswith(BLAMES_SERVER):
        outcome.add("start", "critical", first_line)
        return outcome
    try:
        report = json.loads(stdout)
    except ValueError:
        raise ValueError(f"no JSON, exit code {code}: {first_line}") from None
    outcome.passed = report["passed"]
    for finding in report["findings"]:
        outcome.add(finding["id"], finding["severity"], finding["message"])
    return outcome


def differences(exhibit, release, outcome, known, is_bad):
    """Where an outcome is not what the manifest says."""
    shows = exhibit["shows"]
    for identifier, severity in shows.items():
        if is_bad and not outcome.has(identifier, severity):
            yield f"{release['version']}: no `{identifier}` of severity {severity}"
        if not is_bad and outcome.has(identifier, severity):
            yield f"{release['version']}: `{identifier}`, which it does not have: {outcome.messages[identifier]}"
    if is_bad and outcome.passed and "critical" in shows.values():
        yield f"{release['version']}: passed"
    for identifier, severity in outcome.findings.items():
        excused = known.get(release["environment"], {}).get(identifier, "info")
        is_worse = SEVERITIES.index(severity) > SEVERITIES.index(excused)
        if identifier not in shows and is_worse:
            yield f"{release['version']}: false alarm `{identifier}` ({severity}): {outcome.messages[identifier]}"


def visit(binary, exhibit, known, seen):
    """The verdicts on both releases, and how they differ from the manifest. A command is not repeated."""
    verdicts, differ = [], []
    for which in ("bad", "good"):
        release = exhibit[which]
        if release is None:
            verdicts.append("-")
            continue
        key = json.dumps([subcommand(exhibit), release], sort_keys=True)
        try:
            outcome = seen.get(key) or seen.setdefault(key, examine(binary, exhibit, release))
        except ValueError as error:
            verdicts.append("no verdict")
            differ.append(f"{release['version']}: {error}")
            continue
        verdicts.append(outcome.verdict(exhibit["shows"]))
        differ += differences(exhibit, release, outcome, known, which == "bad")
    return verdicts, differ


def page(rows):
    """The results as a page of the reference."""
    lines = [
        "# Museum",
        "",
        "Releases with known bugs: what `mcp-loadtest` says of each, and of a release without the bug.",
        "Written by `scripts/museum.py --write`; `make museum` repeats it. A command with `--only` names the",
        "check that the bug is about.",
        "",
        "| bug | class | release | command | verdict | without it | verdict |",
        "|---|---|---|---|---|---|---|",
    ]
    for exhibit, (bad, good) in rows:
        without = exhibit["good"]["version"] if exhibit["good"] else "no release"
        about = exhibit["how"] + (f" ({exhibit['reference']})" if "reference" in exhibit else "")
        release = f"{exhibit['package']} {exhibit['bad']['version']}"
        cells = [about, exhibit["class"], release, f"`{shlex.join(subcommand(exhibit))}`", bad, without, good]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def select(parser, arguments, exhibits):
    if unknown := set(arguments.only) - {exhibit["id"] for exhibit in exhibits}:
        parser.error(f"no such exhibit: {', '.join(sorted(unknown))}")
    if arguments.write and (arguments.only or arguments.light):
        parser.error("`--write` tells of all exhibits: leave out `--only` and `--light`")
    if not arguments.binary.is_file():
        parser.error(f"`{arguments.binary}` is missing; try: cargo build --release")
    wanted = [exhibit for exhibit in exhibits if not arguments.only or exhibit["id"] in arguments.only]
    wanted = [exhibit for exhibit in wanted if exhibit["light"] or not arguments.light]
    return [narrowed(exhibit) for exhibit in wanted] if arguments.narrow else wanted


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "mcp-loadtest")
    parser.add_argument("--light", action="store_true", help="only what is part of the tests")
    parser.add_argument("--narrow", action="store_true", help="only the checks that an exhibit is about")
    parser.add_argument("--only", action="append", default=[], metavar="ID", help="only this exhibit; repeatable")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    arguments = parser.parse_args()
    manifest = json.loads((MUSEUM / "manifest.json").read_text())
    selected = select(parser, arguments, manifest["exhibits"])
    releases = [exhibit[which] for exhibit in selected for which in ("bad", "good") if exhibit[which]]
    environments = sorted({release["environment"] for release in releases})
    subprocess.run([sys.executable, TESTENV, "ensure", *environments], check=True)

    print(COLUMNS.format("exhibit", "bad", "good", "verdict"))
    rows, seen, any_differs = [], {}, False
    for exhibit in selected:
        verdicts, differ = visit(arguments.binary.resolve(), exhibit, manifest["known"], seen)
        print(COLUMNS.format(exhibit["id"], *verdicts, "DIFF" if differ else "OK"), flush=True)
        for difference in differ:
            print(f"    {difference}", flush=True)
        rows.append((exhibit, verdicts))
        any_differs |= bool(differ)
    if arguments.write:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(page(rows))
    return 1 if any_differs else 0


if __name__ == "__main__":
    sys.exit(main())
