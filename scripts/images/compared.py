"""The page of three servers that were tested in turns."""

import subprocess

from shots import CALLS, server

SERVERS = {"before": ["slow:12@probability=0.4"], "after": ["slow:18@probability=0.5"], "other": ["slow:9@probability=0.4"]}
LOAD = ["--rate", "100/s", "--duration", "6s", "--repeat", "4", "-q"]
SIZE = 1280, 1240


def take(shots):
    with shots.folder() as folder:
        command = ["./mcp-loadtest", "run", *LOAD, *CALLS]
        for label, faults in SERVERS.items():
            command += ["-s", server(*faults), "--label", label]
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL)
        shots.take(next(folder.glob("runs/*-compare-*/report.html")), "light", SIZE, "compared")
