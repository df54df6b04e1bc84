#!/usr/bin/env python3
"""Installs the servers and tools that the tests run against, under target/testenv/.

    testenv.py ensure NAME... | --group core | --group real | --group museum | --all
    testenv.py path NAME

TESTENV_HOME names another folder, so that several checkouts can share one.

environments.json says what they are. An environment is done when its stamp, a hash of its definition,
is written; until then, or after a change, it is installed from nothing. Needs Python 3.11 on a POSIX
system, and npm, cargo or apt where an environment does; it prints nothing when there is nothing to do.
"""

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEFINITIONS = Path(__file__).with_name("environments.json")
INSTALLED = Path(os.environ.get("TESTENV_HOME", ROOT / "target" / "testenv")).absolute()
JOBS = 2  # An install is half network and half unpacking: two at a time keep both busy.
COMMAND_LIMIT_S = 1800
TAIL_LINES = 20


class InstallError(Exception):
    """An environment could not be installed; the message is for the person at the terminal."""


@dataclass(frozen=True)
class Environment:
    """One row of environments.json."""

    name: str
    definition: dict

    @property
    def home(self):
        return INSTALLED / self.name

    @property
    def sources(self):
        """The files of this repository that it is made from."""
        files = [ROOT / name for name in self.definition.get("files", [])]
        if "project" in self.definition:
            project = ROOT / self.definition["project"]
            files += [project / "Cargo.toml", project / "Cargo.lock", *sorted(project.glob("src/**/*.rs"))]
        return files

    def fingerprint(self):
        digest = hashlib.sha256(json.dumps(self.definition, sort_keys=True).encode())
        for source in self.sources:
            digest.update(source.read_bytes())
        return digest.hexdigest()

    def is_ready(self):
        stamp = self.home / "stamp"
        return stamp.is_file() and stamp.read_text() == self.fingerprint()

    def install(self):
        """Installs from nothing; the stamp comes last, so that an interrupted install is repeated."""
        fingerprint = self.fingerprint()
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True)
        INSTALLERS[self.definition["installer"]](self)
        for name in self.definition.get("files", []):
            shutil.copy(ROOT / name, self.home)
        (self.home / "stamp").write_text(fingerprint)


def install_with_venv(environment):
    """`python3` and the standard library: a shim such as pyenv's, and what packages of the machine import
    at each start, take longer than a test's server."""
    run(sys.executable, "-m", "venv", "--without-pip", environment.home)


def install_with_pip(environment):
    """A virtual environment by the standard tools; only for what installs the others."""
    run(sys.executable, "-m", "venv", environment.home)
    run(environment.home / "bin" / "pip", "install", "--quiet", *environment.definition["packages"])


def install_with_uv(environment):
    """A virtual environment as of a date, so that old releases meet the dependencies of their time."""
    uv = INSTALLED / "uv" / "bin" / "uv"
    definition = environment.definition
    run(uv, "venv", "--quiet", "--clear", "--python", sys.executable, environment.home)
    overrides = environment.home / "overrides.txt"
    overrides.write_text("".join(f"{line}\n" for line in definition.get("overrides", [])))
    run(
        *(uv, "pip", "install", "--quiet", "--python", environment.home / "bin" / "python"),
        *("--exclude-newer", definition["date"], "--override", overrides),
        *definition["packages"],
    )


def install_with_npm(environment):
    """A node_modules as of a date, without a lock file, as a user's `npm install` would make it."""
    run(
        *("npm", "install", "--prefix", environment.home, "--before", environment.definition["date"]),
        *("--no-audit", "--no-fund", "--no-package-lock", "--loglevel", "error"),
        *environment.definition["packages"],
    )


def install_with_cargo(environment):
    """Published binaries by their own lock files, or a project of this repository by its."""
    definition = environment.definition
    project = ("--path", ROOT / definition["project"]) if "project" in definition else ()
    build = environment.home / "build"
    run(
        *("cargo", "install", "--quiet", "--locked", "--root", environment.home, "--target-dir", build),
        *project,
        *definition.get("packages", []),
    )
    shutil.rmtree(build)


def install_with_apt(environment):
    """Programs of the system, by the package manager if they are not there; `bin` leads to them."""
    program, places = environment.definition["program"], environment.definition["places"]
    folder = find_program(program, places)
    if folder is None:
        # Without a service that starts by itself: the tests start their own.
        settings = Path("/etc/postgresql-common/createcluster.conf")
        say_so = f"[ -e {settings} ] || echo 'create_main_cluster = false' >{settings}"
        admin = () if os.geteuid() == 0 else ("sudo", "-n")
        apt = (*admin, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-y")
        run(*admin, "sh", "-c", f"mkdir -p {settings.parent}; {say_so}")
        packages = environment.definition["packages"]
        with locked("apt"):  # It takes one at a time, and refuses the second.
            # A list that cannot be renewed may still be good enough; the installation says if not.
            with contextlib.suppress(InstallError):
                run(*apt, "update")
            run(*apt, "install", "--no-install-recommends", "-o", "Dpkg::Options::=--force-confold", *packages)
        folder = find_program(program, places)
    if folder is None:
        raise InstallError(f"`{program}` is not in {places} after the installation")
    (environment.home / "bin").symlink_to(folder)


def find_program(program, places):
    """The folder that holds a program, of the latest version if there are several."""
    known = shutil.which(program)
    if known:
        return Path(known).resolve().parent
    found = [place for place in Path("/").glob(places.lstrip("/")) if (place / program).exists()]
    version = lambda place: [int(number) for number in re.findall(r"\d+", str(place))]
    return max(found, key=version, default=None)


INSTALLERS = {
    "apt": install_with_apt,
    "venv": install_with_venv,
    "pip": install_with_pip,
    "uv": install_with_uv,
    "npm": install_with_npm,
    "cargo": install_with_cargo,
}


def run(*command):
    """Runs a command in silence; its failure shows the command and the end of what it said."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words,
            cwd=INSTALLED,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=COMMAND_LIMIT_S,
        )
    except FileNotFoundError:
        raise InstallError(f"`{words[0]}` is not installed") from None
    except subprocess.TimeoutExpired:
        raise InstallError(f"no end after {COMMAND_LIMIT_S} s: {' '.join(words)}") from None
    if done.returncode != 0:
        tail = "\n".join(f"    {line}" for line in done.stdout.splitlines()[-TAIL_LINES:])
        raise InstallError(f"exit code {done.returncode}: {' '.join(words)}\n{tail}")


@contextlib.contextmanager
def locked(name):
    """Keeps a second run out of what has this name; the kernel frees the lock if we die."""
    INSTALLED.mkdir(parents=True, exist_ok=True)
    with open(INSTALLED / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def ensure(environment):
    """Installs the environment if need be; returns whether it is there."""
    if environment.is_ready():
        return True
    with locked(environment.name):
        if environment.is_ready():  # Somebody else has installed it while we waited.
            return True
        start = time.monotonic()
        try:
            environment.install()
        except (InstallError, OSError) as error:
            print(f"testenv: `{environment.name}` failed: {error}", file=sys.stderr)
            return False
        print(f"testenv: {environment.name} {time.monotonic() - start:.1f} s", file=sys.stderr)
        return True


def ensure_all(environments, selected):
    """Ensures the selected environments, `uv` before those that need it; returns the exit code."""
    needs_uv = any(environment.definition["installer"] == "uv" for environment in selected)
    if needs_uv and not ensure(environments["uv"]):
        return 1
    with ThreadPoolExecutor(JOBS) as pool:
        return 0 if all(list(pool.map(ensure, selected))) else 1


def load():
    """The environments by name, in the order of the file."""
    rows = json.loads(DEFINITIONS.read_text())["environments"]
    return {name: Environment(name, definition) for name, definition in rows.items()}


def parse_arguments(environments):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    ensure_parser = commands.add_parser("ensure", help="install what is missing or out of date")
    ensure_parser.add_argument("names", nargs="*", metavar="NAME")
    ensure_parser.add_argument("--group", choices=["core", "real", "museum"])
    ensure_parser.add_argument("--all", action="store_true")
    path_parser = commands.add_parser("path", help="print the folder of an installed environment")
    path_parser.add_argument("names", nargs=1, metavar="NAME")
    arguments = parser.parse_args()
    for name in arguments.names:
        if name not in environments:
            parser.error(f"no environment `{name}`; there are: {', '.join(environments)}")
    if arguments.command == "ensure" and not (arguments.names or arguments.group or arguments.all):
        parser.error("say which: NAME..., --group or --all")
    return arguments


def main():
    environments = load()
    arguments = parse_arguments(environments)
    if arguments.command == "path":
        environment = environments[arguments.names[0]]
        if not environment.is_ready():
            hint = f"{sys.argv[0]} ensure {environment.name}"
            sys.exit(f"testenv: `{environment.name}` is not installed; try: {hint}")
        print(environment.home)
        return 0
    selected = [
        environment
        for environment in environments.values()
        if arguments.all
        or environment.name in arguments.names
        or arguments.group in environment.definition.get("groups", [])
    ]
    return ensure_all(environments, selected)


if __name__ == "__main__":
    sys.exit(main())
