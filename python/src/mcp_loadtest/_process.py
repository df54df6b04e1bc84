"""Starting the program: once and for all, or for as long as somebody needs what it serves."""

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
from pathlib import Path

START_LIMIT_S = 60
STOP_LIMIT_S = 10


class Failed(Exception):
    """The program could not do what it was asked for; the message is what it said."""


def program():
    """The program: the one of this wheel, or else the first in PATH."""
    name = "mcp-loadtest.exe" if os.name == "nt" else "mcp-loadtest"
    places = [Path(sysconfig.get_path("scripts")), Path(sys.executable).parent]
    for place in places:
        if (place / name).is_file():
            return str(place / name)
    found = shutil.which("mcp-loadtest")
    if found is None:
        raise Failed("there is no program `mcp-loadtest`: install the wheel, or put it in PATH")
    return found


def flags(options):
    """Arguments of a function as those of a command line: `p99_latency="5ms"` is `--p99-latency 5ms`."""
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                words.append(flag)
            elif one is not None and one is not False:
                # Glued together, a value that begins with a dash stays a value.
                words.append(f"{flag}={one if isinstance(one, str) else json.dumps(one)}")
    return words


def run(command, *words, cwd=None, **options):
    """Runs a command with `--json` and gives its document. A gate that failed is a document, too.

    One that was not carried out as it was asked for may have printed what it measured until then: that is
    no result to go by.
    """
    line = [program(), command, *words, *flags(options), "--json"]
    ran = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=cwd)
    failed = Failed(ran.stderr.strip() or f"it ended with {ran.returncode}")
    if ran.returncode not in (0, 1):
        raise failed
    try:
        return json.loads(ran.stdout)
    except ValueError:
        raise failed from None


def guard(pid):
    """A process that ends another one when we die too suddenly to do so: its stdin ends with us."""
    if os.name != "posix":
        return None
    line = ["sh", "-c", 'read -r _; kill -TERM "$1"', "sh", str(pid)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(line, stdin=subprocess.PIPE, start_new_session=True, **quiet)


class Running:
    """Something that listens. It ends with `stop`, with a `with` block, or with this value."""

    def __init__(self, command, *words, cwd=None, **options):
        self.url = None
        #: Where faults are changed, with `admin="127.0.0.1:0"`.
        self.admin = None
        self._folder = tempfile.TemporaryDirectory(prefix="mcp-loadtest-")
        with self._log().open("wb") as log:
            self._process = subprocess.Popen(
                [program(), command, *words, *flags(options)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=cwd,
                # Ctrl-C in the terminal is for whoever runs the tests, who then stops what was started.
                start_new_session=True,
            )
        self._guard = guard(self._process.pid)
        try:
            self._read_addresses()
        except BaseException:
            self.stop()
            raise
        threading.Thread(target=self._drain, daemon=True).start()

    def _log(self):
        return Path(self._folder.name) / "stderr.log"

    def _read_addresses(self):
        # A program that never says a word is ended, which ends the reading.
        impatience = threading.Timer(START_LIMIT_S, self._process.kill)
        impatience.start()
        try:
            while self.url is None:
                said = json.loads(self._process.stdout.readline())
                self.admin = said.get("admin", self.admin)
                self.url = said.get("url")
        except (ValueError, AttributeError):
            self._process.kill()
            self._process.wait()
            raise Failed(self.stderr().strip() or "it ended without a word") from None
        finally:
            impatience.cancel()

    def _drain(self):
        """Nobody reads on, and a full pipe would stop it."""
        try:
            while self._process.stdout.read1(65536):
                pass
        except (OSError, ValueError):
            pass

    def stderr(self):
        """What it has said on stderr so far."""
        return self._log().read_text(encoding="utf-8", errors="replace")

    def is_running(self):
        """Whether it still runs."""
        return self._process.poll() is None

    def stop(self):
        """Ends it: politely, and then not. What it writes to files is complete afterwards."""
        if self._guard is not None:
            # Killed and not just left alone: it must not outlive the number that it was told.
            self._guard.kill()
            self._guard.wait()
            self._guard.stdin.close()
            self._guard = None
        if self.is_running():
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
        return self._process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def __del__(self):
        if hasattr(self, "_guard"):
            self.stop()
