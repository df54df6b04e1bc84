"""The mock beside a bare hyper server: rate, cost of the audit log, start and memory."""

import json
import socket
import subprocess
import time
from pathlib import Path

from measure import GENERATOR_CORE, SERVER_CORE, Rounds, measure, median, pinned, raise_open_files
from tables import ratio, table

CONNECTIONS = 64
OPEN = 1000
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": {}, "_meta": META}}
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "echo",
}


class Server:
    """A server that prints its URL, for as long as the block lasts."""

    def __init__(self, command):
        self.begun = time.monotonic()
        command = pinned(SERVER_CORE, command)
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=raise_open_files)
        self.url = json.loads(self.process.stdout.readline())["url"]
        self.started = time.monotonic() - self.begun

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def cpu(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def rss_mb(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")) / 1024


def wrk_script(tools):
    script = tools.scratch / "mock.lua"
    lines = ['wrk.method = "POST"', f"wrk.body = '{json.dumps(CALL, separators=(',', ':'))}'"]
    lines += [f'wrk.headers["{name}"] = "{value}"' for name, value in HEADERS.items()]
    script.write_text("\n".join(lines))
    return script


def load(tools, script, server, seconds):
    """One run of wrk: requests, seconds, and the CPU time of the server."""
    before = server.cpu()
    command = [tools.wrk, "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", str(script), server.url]
    usage = measure(pinned(GENERATOR_CORE, command))
    line = next(line for line in usage.output.splitlines() if " requests in " in line)
    if "Non-2xx" in usage.output:
        raise SystemExit(f"bench: the mock refused what wrk sends:\n{usage.output}")
    return int(line.split()[0]), seconds, server.cpu() - before


def bench_rates(tools, rounds, seconds, figures):
    script = wrk_script(tools)
    mock = [tools.ours, "mock", "--transport", "http"]
    log = tools.scratch / "audit.db"
    with Server([tools.bare_hyper]) as bare, Server(mock) as plain, Server([*mock, "--audit", f"sqlite:{log}"]) as audited:
        servers = {"bare hyper": bare, "mock": plain, "mock, SQLite audit": audited}
        seen = Rounds({name: lambda server=server: load(tools, script, server, seconds) for name, server in servers.items()}, rounds)
    rows = []
    for name in servers:
        rate, cost = seen.rate_ratio(name, "bare hyper"), seen.cost_ratio(name, "bare hyper")
        rows.append([name, f"{seen.rate(name):,.0f}", ratio(rate), f"{seen.cost(name):.2f}", ratio(cost)])
    figures["mock rate"] = seen.rate_ratio("mock", "bare hyper")
    figures["audit rate"] = seen.rate_ratio("mock, SQLite audit", "mock")
    heads = ["server", "calls/s", "x hyper", "CPU µs/call", "x hyper"]
    table(f"Mock: `tools/call echo` over HTTP at {CONNECTIONS}, {rounds} rounds of {seconds} s in turns: medians", heads, rows)
    told = subprocess.run([tools.ours, "audit", f"sqlite:{log}", "stats", "--json"], capture_output=True, text=True, check=True)
    print(f"\nThe log of the audited mock: {json.loads(told.stdout)['rows']:,} rows, {log.stat().st_size / 1e6:,.0f} MB.")


def bench_start(tools, figures):
    started = []
    for _ in range(20):
        with Server([tools.ours, "mock", "--transport", "http"]) as server:
            started.append(server.started)
    figures["mock start"] = median(started) * 1000
    request = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
    body = json.dumps(CALL)
    raise_open_files()
    with Server([tools.ours, "mock", "--transport", "http"]) as server:
        host, port = server.url.split("/")[2].split(":")
        head = f"POST /mcp HTTP/1.1\r\nHost: {host}:{port}\r\n{request}Content-Length: {len(body)}\r\n\r\n"
        sockets = []
        for _ in range(OPEN):
            connection = socket.create_connection((host, int(port)))
            connection.sendall((head + body).encode())
            sockets.append(connection)
            connection.recv(4096)
        figures["mock MB"] = server.rss_mb()
        for connection in sockets:
            connection.close()
    heads = ["what", "seen"]
    rows = [["start until its URL is printed, ms (median of 20)", f"{figures['mock start']:.1f}"],
            [f"MB with {OPEN} open connections, each after a call", f"{figures['mock MB']:.1f}"]]
    table("Mock: start and memory", heads, rows)


def bench(tools, rounds, seconds, figures):
    if tools.wrk:
        bench_rates(tools, rounds, seconds, figures)
    bench_start(tools, figures)
