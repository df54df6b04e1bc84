"""report.html of a run that fails and of one that passes."""

import subprocess

from shots import CALLS, server

LOG = "mock.db"
LOAD = ["--rate", "100/s", "--duration", "30s", "--p99-latency", "30ms", "--error-rate", "0.01", "--audit", LOG]
# Name, colours, scenario, faults of the server.
RUNS = [
    ("failing", "light", "spike", ["slow:40@probability=0.2", "tool-error@probability=0.3,after=3s,until=8s"]),
    ("passing", "dark", "sustained", ["slow:8@probability=0.3"]),
]
SIZE = 1280, 1560


def take(shots):
    for name, colours, scenario, faults in RUNS:
        with shots.folder() as folder:
            command = ["./mcp-loadtest", "run", "-s", f"{server(*faults)} --audit {LOG}", "--scenario", scenario, *LOAD, *CALLS]
            # A failing run is what is wanted, so its code is not judged.
            subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL)
            shots.take(next(folder.glob("runs/*/report.html")), colours, SIZE, f"report-{name}")
