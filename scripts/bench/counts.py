"""Instructions, by callgrind. They do not move with the machine: regressions are judged on these.

Each count is the difference of a long and a short run, so that starting up cancels out.
"""

from measure import GENERATOR_CORE, measure, median, pinned
from tables import count, table
from tools import HttpServer

IN_FLIGHT = (1, 16, 64, 1000)
HTTP_CONNECTIONS = 64
# How long a run under callgrind lasts.
SECONDS = (2, 6)
CALLGRIND = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")
# How often a piece is done under callgrind, and on the bare processor.
COUNTED, TIMED = (100, 300), (1_000, 101_000)


def collected(usage):
    line = next(line for line in usage.errors.splitlines() if "Collected :" in line)
    return int(line.split()[-1])


def each(run, sizes):
    """What one more costs; `run` gives (cost, how many)."""
    short, long = (run(size) for size in sizes)
    return (long[0] - short[0]) / (long[1] - short[1])


def count_ours(tools, server, in_flight, trace):
    def run(seconds):
        usage, summary = tools.run(server, in_flight, seconds, trace, CALLGRIND)
        return collected(usage), summary["requests"]

    return each(run, SECONDS)


def count_pump(tools, in_flight):
    def run(seconds):
        usage, pumped = tools.pump(10_000 * seconds, in_flight, wrapper=CALLGRIND)
        return collected(usage), pumped["requests"]

    return each(run, SECONDS)


def count_wrk(tools, url):
    def run(seconds):
        usage, requests = tools.run_wrk(url, HTTP_CONNECTIONS, seconds, CALLGRIND)
        return collected(usage), requests

    return each(run, SECONDS)


def bench(tools, figures):
    rows = []
    for in_flight in IN_FLIGHT:
        counts = [count_pump(tools, in_flight)]
        for trace in ("off", "full"):
            counts.append(count_ours(tools, tools.stdio(), in_flight, trace))
            figures[f"stdio instructions {trace} {in_flight}"] = counts[-1]
        rows.append(["stdio", in_flight, *map(count, counts)])
    with HttpServer(tools) as server:
        counts = [count_wrk(tools, server.url) if tools.wrk else None]
        counts += [count_ours(tools, ["--url", server.url], HTTP_CONNECTIONS, trace) for trace in ("off", "full")]
        rows.append(["HTTP", HTTP_CONNECTIONS, *map(count, counts)])
    heads = ["transport", "in flight", "pump / wrk", "trace off", "trace full"]
    table("User instructions per request (callgrind)", heads, rows)


def bench_pieces(tools, rounds, with_callgrind):
    """The pure pieces of the hot path. `cargo bench -p mcp-loadtest-core` times them with more care."""
    rows = []
    for name in measure([tools.pieces]).output.splitlines():

        def counted(times):
            return collected(measure([*CALLGRIND, tools.pieces, name, str(times)], silent=True)), times

        def timed(times):
            command = pinned(GENERATOR_CORE, [tools.pieces, name, str(times)])
            return measure(command, silent=True).cpu * 1e9, times

        instructions = each(counted, COUNTED) if with_callgrind else None
        nanos = median([each(timed, TIMED) for _ in range(rounds)])
        rows.append([name, count(instructions), count(nanos)])
    table("Pieces", ["once", "instructions", "CPU ns"], rows)
