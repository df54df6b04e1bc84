"""HTTP: mcp-loadtest, wrk and oha against the same server."""

from measure import Rounds
from tables import ratio, table
from tools import HttpServer

CONNECTIONS = (1, 16, 64, 256, 1000)


def contestants(tools, url, connections, seconds):
    def ours(trace):
        usage, summary = tools.run(["--url", url], connections, seconds, trace)
        return summary["requests"], seconds, usage.cpu

    def other(run):
        usage, requests = run(url, connections, seconds)
        return requests, seconds, usage.cpu

    found = {}
    if tools.wrk:
        found["wrk"] = lambda: other(tools.run_wrk)
    if tools.oha:
        found["oha"] = lambda: other(tools.run_oha)
    return {**found, "trace off": lambda: ours("off"), "trace full": lambda: ours("full")}


def bench(tools, rounds, seconds, figures):
    rows = []
    with HttpServer(tools) as server:
        for connections in CONNECTIONS:
            seen = Rounds(contestants(tools, server.url, connections, seconds), rounds)
            for name in seen.rates:
                figures[f"http {name} rate {connections}"] = rate = seen.rate_ratio(name, "wrk")
                figures[f"http {name} cpu {connections}"] = cost = seen.cost_ratio(name, "wrk")
                figures[f"http {name} oha {connections}"] = oha = seen.rate_ratio(name, "oha")
                oha_cost = seen.cost_ratio(name, "oha")
                rows.append([
                    connections, name, f"{seen.rate(name):,.0f}", ratio(rate), ratio(oha),
                    f"{seen.cost(name):.2f}", ratio(cost), ratio(oha_cost),
                ])
    heads = ["connections", "tool", "req/s", "x wrk", "x oha", "CPU µs/req", "x wrk", "x oha"]
    table(f"HTTP, one thread, {rounds} rounds of {seconds} s in turns: medians", heads, rows)
