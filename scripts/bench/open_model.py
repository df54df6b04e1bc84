"""The open model: is the rate that was asked for offered, how late are calls sent, and at what cost?"""

import json
import shutil
import statistics

from measure import GENERATOR_CORE, measure, pinned
from tables import table
from tools import HttpServer

RATES = (1_000, 10_000, 30_000)


def once(tools, target, rate, seconds):
    out = tools.scratch / "open"
    command = [
        tools.ours, "run", *target, "--protocol", "2025-11-25", "--threads", "1", "--rate", f"{rate}/s",
        "--duration", f"{seconds}s", "--tool", "echo", "--trace", "off", "--output-dir", str(out), "--json", "--quiet",
    ]
    usage = measure(pinned(GENERATOR_CORE, command))
    summary = json.loads(usage.output)
    metrics = json.loads(next(out.glob("*/metrics.json")).read_text())
    shutil.rmtree(out)
    validity = metrics["validity"]
    return {
        "offered": validity["offered_per_sec"] / rate,
        "lag p50": validity["lag_ms"]["p50"] * 1000,
        "lag p99": validity["lag_ms"]["p99"] * 1000,
        "p50": metrics["latency_ms"]["p50"] * 1000,
        "p99": metrics["latency_ms"]["p99"] * 1000,
        "cpu": usage.cpu / summary["requests"] * 1e6,
        "dropped": metrics["dropped"],
    }


def bench(tools, rounds, seconds, figures):
    rows = []
    with HttpServer(tools) as server:
        for name, target in (("HTTP", ["--url", server.url]), ("stdio", tools.stdio())):
            for rate in RATES:
                seen = [once(tools, target, rate, seconds) for _ in range(rounds)]
                median = {key: statistics.median(run[key] for run in seen) for key in seen[0]}
                for key, value in median.items():
                    figures[f"{name} open {key} {rate}"] = value
                figures[f"{name} open off {rate}"] = abs(median["offered"] - 1) * 100
                rows.append([
                    name, f"{rate:,}", f"{median['offered'] * 100:.2f} %", f"{median['lag p50']:.0f}", f"{median['lag p99']:.0f}",
                    f"{median['p50']:.0f}", f"{median['p99']:.0f}", f"{median['cpu']:.1f}", f"{median['dropped']:.0f}",
                ])
    heads = ["transport", "calls/s", "offered", "lag p50 µs", "lag p99 µs", "response p50 µs", "p99 µs", "CPU µs/req", "dropped"]
    table(f"Open model, one thread, {rounds} rounds of {seconds} s: medians", heads, rows)
