#!/usr/bin/env python3
"""Makes the pictures of report.html in docs/images/: a run that fails and one that passes.

    report-screenshots.py [--binary target/release/mcp-loadtest]

Needs the environments `browser` and `chromium` of tests/env/testenv.py. Takes about a minute.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
TESTENV = ROOT / "tests" / "env" / "testenv.py"
LOAD = ["--rate", "100/s", "--duration", "30s", "--tool", "echo", "--args", '{"text":"hello"}']
LIMITS = ["--p99-latency", "30ms", "--error-rate", "0.01"]
# Name, colours, scenario, faults of the server.
RUNS = [
    ("failing", "light", "spike", ["slow:40@probability=0.2", "tool-error@probability=0.3,after=12s,until=18s"]),
    ("passing", "dark", "sustained", ["slow:8@probability=0.3"]),
]
WIDTH, HEIGHT = 1280, 1560


def environment(name):
    subprocess.run([sys.executable, TESTENV, "ensure", name], check=True)
    path = subprocess.run([sys.executable, TESTENV, "path", name], check=True, capture_output=True, text=True)
    return Path(path.stdout.strip())


def run(binary, faults, scenario, folder):
    """Runs the load and returns the page; a failing run is what is wanted, so its code is not judged."""
    (folder / "mcp-loadtest").symlink_to(binary)  # The page shows the command: a short one reads better.
    server = " ".join(["./mcp-loadtest mock", *(f"--fault {fault}" for fault in faults)])
    command = ["./mcp-loadtest", "run", "-s", server, "--scenario", scenario, *LOAD, *LIMITS]
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL)
    return next(folder.glob("runs/*/report.html"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "mcp-loadtest")
    binary = parser.parse_args().binary.resolve()
    driver, chromium = environment("browser") / "browser.mjs", environment("chromium") / "bin" / "chromium"
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name, colours, scenario, faults in RUNS:
        picture = IMAGES / f"report-{name}.png"
        with tempfile.TemporaryDirectory() as folder:
            page = run(binary, faults, scenario, Path(folder))
            shot = ["node", driver, "shot", chromium, page, colours, str(WIDTH), str(HEIGHT), picture]
            subprocess.run(shot, check=True)
        print(picture.relative_to(ROOT))


if __name__ == "__main__":
    main()
