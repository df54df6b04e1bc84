"""stdio: mcp-loadtest against the pump, which moves the same bytes and checks nothing.

The pump answers all replies of a read with one write, and then both sides take turns at sleeping. A
pump that writes in halves keeps the server busy meanwhile: that is the harder limit.
"""

from measure import Rounds, median
from tables import ratio, table

IN_FLIGHT = (1, 16, 64, 256, 1000)
PUMP, HALVES, OFF, FULL = "limit (pump)", "limit (pump in halves)", "trace off", "trace full"


def contestants(tools, in_flight, seconds):
    _, trial = tools.pump(20_000, in_flight)
    enough = max(20_000, int(seconds * trial["requests"] / trial["seconds"]))

    def pump(pieces):
        usage, pumped = tools.pump(enough, in_flight, pieces)
        return pumped["requests"], pumped["seconds"], usage.cpu

    def ours(trace):
        usage, summary = tools.run(tools.stdio(), in_flight, seconds, trace)
        return summary["requests"], seconds, usage.cpu

    return {PUMP: lambda: pump(1), HALVES: lambda: pump(2), OFF: lambda: ours("off"), FULL: lambda: ours("full")}


def bench(tools, rounds, seconds, figures):
    rows = []
    for in_flight in IN_FLIGHT:
        seen = Rounds(contestants(tools, in_flight, seconds), rounds)
        for name in seen.rates:
            figures[f"stdio {name} rate {in_flight}"] = rate = seen.rate_ratio(name, PUMP)
            halves = seen.rate_ratio(name, HALVES)
            rows.append([in_flight, name, f"{seen.rate(name):,.0f}", ratio(rate), ratio(halves), f"{seen.cost(name):.2f}"])
        added = [full - off for full, off in zip(seen.costs[FULL], seen.costs[OFF])]
        figures[f"trace µs {in_flight}"] = median(added)
    heads = ["in flight", "tool", "req/s", "x limit", "x limit in halves", "CPU µs/req with the server's"]
    table(f"stdio, one child, {rounds} rounds of {seconds} s in turns: medians", heads, rows)
    bench_trace(figures)


def bench_trace(figures):
    """A call makes two events; what they cost is what a run with a trace costs more."""
    rows = []
    for in_flight in (64, 1000):
        added = figures[f"trace µs {in_flight}"]
        events = 2e6 / added if added > 0 else float("inf")
        figures[f"trace events {in_flight}"] = events
        rows.append([in_flight, f"{added:.2f}", f"{events / 1e6:.1f}"])
    heads = ["calls in flight over stdio", "CPU µs added to a call (2 events)", "million events/s per core"]
    table("Trace to disk, writer thread included", heads, rows)
