"""Memory of many calls in flight, and whether any of them fails for a reason of our own."""

from tables import table
from tools import HttpServer

MANY = (1000, 10_000)


def bench(tools, figures):
    rows = []
    with HttpServer(tools) as server:
        for name, target in (("HTTP", ["--url", server.url]), ("stdio", tools.stdio())):
            base, _ = tools.run(target, 1, 2, "off", watch_memory=True)
            for in_flight in MANY:
                seconds = 4 if in_flight < 10_000 else 10
                usage, summary = tools.run(target, in_flight, seconds, "off", watch_memory=True)
                figures[f"{name} KB {in_flight}"] = each = (usage.peak_kb - base.peak_kb) / (in_flight - 1)
                figures[f"{name} errors {in_flight}"] = summary["errors"]
                peak = [f"{peak_kb / 1024:.1f}" for peak_kb in (base.peak_kb, usage.peak_kb)]
                rows.append([name, in_flight, *peak, f"{each:.2f}", summary["errors"]])
    heads = ["transport", "in flight", "MB with 1 in flight", "MB", "KB each", "errors"]
    table("Memory", heads, rows)
