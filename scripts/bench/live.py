"""What it costs to be watched: the same load alone, with `--tui` and with `--web` and a browser.

Everything of ours is pinned to one core, so that a view takes its time from the load itself. Many rounds of one
second each: what is looked for is smaller than what neighbours do to any one of them.
"""

import fcntl
import io
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import urllib.request

from measure import GENERATOR_CORE, Rounds, pinned, raise_open_files, wait
from tables import ratio, table
from tools import HttpServer

IN_FLIGHT = 64
ROUND_SECONDS = 1
ALONE, TUI, WEB = "alone", "--tui", "--web, one browser"


class Watched:
    """One run with somebody who looks at it."""

    def __init__(self, tools, target, seconds):
        self.out = tools.scratch / "live"
        self.command = pinned(GENERATOR_CORE, [
            tools.ours, "run", *target, "--protocol", "2025-11-25", "--threads", "1", "--concurrent", str(IN_FLIGHT),
            "--duration", f"{seconds}s", "--tool", "echo", "--trace", "off", "--output-dir", str(self.out), "--json",
        ])
        self.seconds = seconds

    def run(self, flags, stdin, stderr, meanwhile):
        with tempfile.TemporaryFile("w+") as said:
            process = subprocess.Popen(
                [*self.command, *flags], stdin=stdin, stdout=said, stderr=stderr, preexec_fn=raise_open_files
            )
            meanwhile(process)
            process.returncode, used, _ = wait(process.pid, watch_memory=False)
            said.seek(0)
            text = said.read()
        shutil.rmtree(self.out, ignore_errors=True)
        if process.returncode not in (0, 1):
            sys.exit(f"bench: {' '.join(flags)} ended with {process.returncode}: {text}")
        return json.loads(text)["requests"], self.seconds, used.ru_utime + used.ru_stime

    def alone(self):
        return self.run(["--quiet"], subprocess.DEVNULL, subprocess.DEVNULL, lambda process: None)

    def tui(self):
        """On a terminal of a usual size that is read as fast as it is written."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        threading.Thread(target=drain, args=(master,), daemon=True).start()
        try:
            return self.run(["--tui"], slave, slave, lambda process: None)
        finally:
            os.close(slave)

    def web(self):
        """With a browser that takes every update; the page is closed when the run is over."""
        def read(process):
            talk = io.TextIOWrapper(process.stderr)
            url = re.search(r"http://\S+", talk.readline()).group()
            with urllib.request.urlopen(url + "events") as events:
                for line in events:
                    if line.startswith(b"event: over"):
                        break
            for line in talk:
                if "stays at" in line:
                    break
            process.send_signal(signal.SIGINT)

        return self.run(["--web", "127.0.0.1:0", "--quiet"], subprocess.DEVNULL, subprocess.PIPE, read)


def drain(terminal):
    try:
        while os.read(terminal, 1 << 16):
            pass
    except OSError:
        pass


def bench(tools, rounds, seconds, figures):
    rows, rounds = [], 2 * rounds * seconds
    with HttpServer(tools) as server:
        for transport, target in (("HTTP", ["--url", server.url]), ("stdio", tools.stdio())):
            watched = Watched(tools, target, ROUND_SECONDS)
            seen = Rounds({ALONE: watched.alone, TUI: watched.tui, WEB: watched.web}, rounds)
            for name in seen.rates:
                figures[f"live {transport} {name}"] = best = seen.best_ratio(name, ALONE)
                pairs, cost = ratio(seen.rate_ratio(name, ALONE)), f"{seen.cost(name):.2f}"
                rows.append([transport, name, f"{seen.rate(name):,.0f}", ratio(best), pairs, cost])
    heads = ["transport", "watched", "req/s", "x alone, best third", "median of pairs", "CPU µs/req"]
    table(f"Watched runs, {IN_FLIGHT} in flight, one core, {rounds} rounds of {ROUND_SECONDS} s in turns", heads, rows)
