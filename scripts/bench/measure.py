"""Running programs and taking what they cost."""

import os
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GENERATOR_CORE, SERVER_CORE = 0, 1
OPEN_FILES = 65_536


class Usage:
    """What one process cost, and what it said."""

    def __init__(self, output, errors, used, peak_kb):
        self.output, self.errors, self.peak_kb = output, errors, peak_kb
        self.cpu = used.ru_utime + used.ru_stime


def pinned(core, command):
    """The command, on one core, where there are two and a tool to pin with."""
    if shutil.which("taskset") and (os.cpu_count() or 1) > 1:
        return ["taskset", "-c", str(core), *command]
    return list(command)


def raise_open_files():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def wait(pid, watch_memory):
    """The end of a process. `ru_maxrss` would begin with what we ourselves had when we forked."""
    peak_kb = 0
    while watch_memory:
        try:
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            break
        peaks = [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")]
        if not peaks:
            break
        peak_kb = max(peak_kb, *peaks)
        time.sleep(0.05)
    _, status, used = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), used, peak_kb


def measure(command, watch_memory=False, silent=False):
    """Runs a command to its end. Its CPU time includes children that it waited for."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=raise_open_files
        )
        process.returncode, used, peak_kb = wait(process.pid, watch_memory)
        out.seek(0)
        err.seek(0)
        usage = Usage(out.read(), err.read(), used, peak_kb)
    # 1 is a verdict on the server, such as a latency limit that a busy machine did not keep.
    if process.returncode not in (0, 1) or not (usage.output or silent):
        sys.exit(f"bench: {shlex.join(command)} ended with {process.returncode}:\n{usage.errors}")
    return usage


def median(values):
    return statistics.median(values)


def paired(values, base):
    """The median of the ratios of rounds that ran one after the other."""
    return median([mine / theirs for mine, theirs in zip(values, base)])


class Rounds:
    """Rates and costs of contestants that took turns, there and back, so that each has met the same weather."""

    def __init__(self, contestants, rounds):
        """`contestants` are functions that give (requests, seconds, CPU seconds), by name."""
        self.rates = {name: [] for name in contestants}
        self.costs = {name: [] for name in contestants}
        turns = list(contestants.items())
        for _ in range(rounds):
            for name, run in turns:
                requests, seconds, cpu = run()
                self.rates[name].append(requests / seconds)
                self.costs[name].append(cpu / requests * 1e6)
            turns.reverse()

    def rate(self, name):
        return median(self.rates[name])

    def cost(self, name):
        return median(self.costs[name])

    def rate_ratio(self, name, base):
        return paired(self.rates[name], self.rates[base]) if base in self.rates else None

    def best_ratio(self, name, base):
        """By the best third of the rounds: a neighbour on the machine can only take, and these met none."""
        best = lambda rates: statistics.mean(sorted(rates)[-max(1, len(rates) // 3):])
        return best(self.rates[name]) / best(self.rates[base])

    def cost_ratio(self, name, base):
        return paired(self.costs[name], self.costs[base]) if base in self.costs else None
