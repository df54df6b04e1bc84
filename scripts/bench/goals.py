"""What is hoped for, beside what was seen."""

from tables import table


def goals():
    """(words, figure, limit, whether less is better)"""
    for connections in (16, 64, 256):
        yield f"HTTP CPU/req, x wrk, at {connections}", f"http trace off cpu {connections}", 1.0, True
    for connections in (16, 64, 256):
        yield f"HTTP CPU/req with full trace, x wrk, at {connections}", f"http trace full cpu {connections}", 1.15, True
    for connections, limit in ((16, 1.0), (64, 1.0), (256, 0.9)):
        yield f"HTTP req/s, x wrk, at {connections}", f"http trace off rate {connections}", limit, False
    for connections in (16, 64, 256):
        yield f"HTTP req/s, x oha, at {connections}", f"http trace off oha {connections}", 1.8, False
    yield "stdio instructions/req at 64", "stdio instructions off 64", 4000, True
    yield "stdio instructions/req with full trace at 64", "stdio instructions full 64", 6500, True
    for in_flight in (1, 16, 64):
        yield f"stdio req/s, x limit, at {in_flight}", f"stdio trace off rate {in_flight}", 0.7, False
    for rate in (10_000, 30_000):
        for name in ("HTTP", "stdio"):
            yield f"{name}, open model at {rate:,}/s: lag p50 µs", f"{name} open lag p50 {rate}", 200, True
            yield f"{name}, open model at {rate:,}/s: % off the rate", f"{name} open off {rate}", 1.0, True
            yield f"{name}, open model at {rate:,}/s: CPU µs/req", f"{name} open cpu {rate}", 30, True
    yield "KB per HTTP worker at 10,000", "HTTP KB 10000", 5, True
    yield "HTTP calls that failed at 10,000", "HTTP errors 10000", 0, True
    yield "KB per stdio call at 10,000", "stdio KB 10000", 1.5, True
    for transport in ("HTTP", "stdio"):
        for view in ("--tui", "--web, one browser"):
            yield f"{transport} req/s watched with {view}, x alone", f"live {transport} {view}", 0.97, False
    yield "mock calls/s, x bare hyper", "mock rate", 0.5, False
    yield "mock calls/s with SQLite audit, x without", "audit rate", 0.7, False
    yield "mock: start, ms", "mock start", 20, True
    yield "mock: MB with 1000 connections", "mock MB", 30, True
    for connections in (1, 64, 512):
        yield f"llm: whole answers/s, x llmposter, at {connections}", f"llm chat rate {connections}", 1.5, False
        yield f"llm: CPU of a whole answer, x llmposter, at {connections}", f"llm chat cpu {connections}", 1.0, True
    for connections, limit in ((1, 100), (64, 5)):
        yield f"llm: streams/s, x llmposter, at {connections}", f"llm stream rate {connections}", limit, False
    yield "llm: MB with 10,000 slow streams", "llm slow MB", 200, True
    yield "llm: frames of 10,000 slow streams late, p99 ms", "llm slow late p99", 20, True
    yield "trace events/s per core", "trace events 64", 2_000_000, False


def print_goals(figures):
    rows = []
    for words, figure, limit, less in goals():
        seen = figures.get(figure)
        if seen is None:
            continue
        met = seen <= limit if less else seen >= limit
        shown = f"{seen:,.0f}" if limit >= 100 or limit == 0 else f"{seen:.2f}"
        rows.append([words, f"{'<=' if less else '>='} {limit:,}", shown, "met" if met else "not met"])
    table("Goals", ["what", "goal", "seen", ""], rows)
