"""The page of `run --web` in the middle of a run."""

import re
import subprocess

from shots import CALLS, server

LOAD = ["--scenario", "spike", "--rate", "150/s", "--duration", "90s", "--p99-latency", "80ms"]
FAULTS = ["slow:40@probability=0.2", "tool-error@probability=0.2,after=15s,until=25s"]
SIZE = 1280, 1100
SECONDS = 40


def take(shots):
    with shots.folder() as folder:
        command = ["./mcp-loadtest", "run", "-s", server(*FAULTS), *LOAD, *CALLS, "--web", "127.0.0.1:0"]
        run = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            url = re.search(r"http://\S+", run.stderr.readline()).group()
            shots.take(url, "light", SIZE, "web", SECONDS)
        finally:
            run.terminate()
            run.wait()
