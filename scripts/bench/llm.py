"""The mock of models beside llmposter: whole answers, streams, and ten thousand slow streams."""

import contextlib
import json
import socket
import subprocess
import time

from measure import GENERATOR_CORE, SERVER_CORE, Rounds, measure, pinned, raise_open_files
from mock import Server
from tables import ratio, table

WHOLE, STREAMS = (1, 64, 512), (1, 64)
SLOW, PAUSE_MS = 10_000, 50
ANSWER = "A canned answer of sixty-five characters, as both of them give it."
FIXTURES = f"""\
fixtures:
  - match: {{user_message: slow}}
    response: {{content: "{'x' * 60}"}}
    streaming: {{latency: {PAUSE_MS}, chunk_size: 1}}
  - match: {{user_message: hello}}
    response: {{content: "{ANSWER}"}}
"""


class Peer(Server):
    """llmposter, which has to be told its port and says nothing when it is ready."""

    def __init__(self, program, fixtures):
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as free:
            port = free.getsockname()[1]
        command = pinned(SERVER_CORE, [program, "-f", str(fixtures), "-p", str(port)])
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(command, stdout=quiet, stderr=quiet, preexec_fn=raise_open_files)
        self.url = f"http://127.0.0.1:{port}"
        for _ in range(200):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                return
            time.sleep(0.05)
        raise SystemExit("bench: llmposter did not start")


def wrk_script(tools, stream):
    body = {"model": "gpt-4o", "stream": stream, "messages": [{"role": "user", "content": "hello"}]}
    script = tools.scratch / f"llm-{stream}.lua"
    script.write_text(
        'wrk.method = "POST"\n'
        f"wrk.body = '{json.dumps(body, separators=(',', ':'))}'\n"
        'wrk.headers["Content-Type"] = "application/json"\n'
        'wrk.headers["Authorization"] = "Bearer test"\n'
    )
    return script


def load(tools, script, server, connections, seconds):
    """One run of wrk: requests, seconds, and the CPU time of the server."""
    before = server.cpu()
    url = f"{server.url}/v1/chat/completions"
    command = [tools.wrk, "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(script), url]
    usage = measure(pinned(GENERATOR_CORE, command))
    if "Non-2xx" in usage.output:
        raise SystemExit(f"bench: what wrk sends was refused:\n{usage.output}")
    line = next(line for line in usage.output.splitlines() if " requests in " in line)
    return int(line.split()[0]), seconds, server.cpu() - before


def bench_beside(tools, fixtures, rounds, seconds, figures):
    rows = []
    with Server([tools.ours, "llm", "--fixtures", str(fixtures)]) as ours, Peer(tools.llmposter, fixtures) as peer:
        servers = {"ours": ours, "llmposter": peer}
        for word, stream, counts in (("chat", False, WHOLE), ("stream", True, STREAMS)):
            script = wrk_script(tools, stream)
            for connections in counts:
                runs = {name: lambda s=s: load(tools, script, s, connections, seconds) for name, s in servers.items()}
                seen = Rounds(runs, rounds)
                rate = seen.rate_ratio("ours", "llmposter")
                # It answers so few streams on one connection that no clock shows what they cost.
                cost = None if stream else seen.cost_ratio("ours", "llmposter")
                figures[f"llm {word} rate {connections}"], figures[f"llm {word} cpu {connections}"] = rate, cost
                row = [word, str(connections), f"{seen.rate('ours'):,.0f}", f"{seen.rate('llmposter'):,.0f}", ratio(rate)]
                rows.append([*row, f"{seen.cost('ours'):.1f}", f"{seen.cost('llmposter'):.1f}", ratio(cost)])
    heads = ["what", "connections", "ours/s", "llmposter/s", "x", "our CPU µs", "its CPU µs", "x"]
    table(f"Mock of models beside llmposter, {rounds} rounds of {seconds} s in turns: medians", heads, rows)


def bench_slow(tools, fixtures, figures):
    raise_open_files()
    with Server([tools.ours, "llm", "--fixtures", str(fixtures)]) as ours:
        command = [tools.llm_streams, ours.url, str(SLOW), str(PAUSE_MS)]
        before = ours.cpu()
        listening = subprocess.Popen(pinned(GENERATOR_CORE, command), stdout=subprocess.PIPE, preexec_fn=raise_open_files)
        most = 0.0
        while listening.poll() is None:
            most = max(most, ours.rss_mb())
            time.sleep(0.05)
        seen = json.loads(listening.stdout.read())
        cpu = ours.cpu() - before
    figures["llm slow MB"], figures["llm slow late p99"] = most, seen["late_p99_ms"]
    rows = [["streams that came to their end", f"{seen['whole']:,}"], ["that did not", f"{seen['broken']:,}"],
            ["frames", f"{seen['frames']:,}"], ["most MB", f"{most:.0f}"],
            ["late p50 / p99 / max, ms", f"{seen['late_p50_ms']:.1f} / {seen['late_p99_ms']:.1f} / {seen['late_max_ms']:.1f}"],
            ["CPU µs a frame", f"{cpu * 1e6 / max(seen['frames'], 1):.1f}"]]
    table(f"Mock of models: {SLOW:,} streams at once with {PAUSE_MS} ms between frames", ["what", "seen"], rows)


def bench(tools, rounds, seconds, figures):
    fixtures = tools.scratch / "llm.yml"
    fixtures.write_text(FIXTURES)
    if tools.wrk and tools.llmposter:
        bench_beside(tools, fixtures, rounds, seconds, figures)
    bench_slow(tools, fixtures, figures)
