"""A browser that takes pictures, and a folder in which a run is called by a short name."""

import contextlib
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
TESTENV = ROOT / "tests" / "env" / "testenv.py"
# What all pictures are of: a mock whose faults make plots worth looking at.
CALLS = ["--tool", "echo", "--args", '{"text":"hello"}']


def environment(name):
    subprocess.run([sys.executable, TESTENV, "ensure", name], check=True)
    path = subprocess.run([sys.executable, TESTENV, "path", name], check=True, capture_output=True, text=True)
    return Path(path.stdout.strip())


class Shots:
    def __init__(self, binary):
        self.binary = binary
        self.driver = environment("browser") / "browser.mjs"
        self.chromium = environment("chromium") / "bin" / "chromium"

    @contextlib.contextmanager
    def folder(self):
        """A folder with the program in it: pictures show the command, and a short one reads better."""
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "mcp-loadtest").symlink_to(self.binary)
            yield Path(folder)

    def take(self, page, colours, size, name, seconds=0):
        """A picture of a page, or of a URL after so many seconds."""
        width, height = size
        picture = IMAGES / f"{name}.png"
        command = ["node", self.driver, "shot", self.chromium, page, colours, str(width), str(height), picture, str(seconds)]
        subprocess.run(command, check=True)
        print(picture.relative_to(ROOT))


def server(*faults):
    return " ".join(["./mcp-loadtest mock", *(f"--fault {fault}" for fault in faults)])
