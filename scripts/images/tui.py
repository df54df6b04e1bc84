"""The screen of `run --tui` in the middle of a run, from a terminal of tmux."""

import re
import shlex
import subprocess
import time
from html import escape

from shots import CALLS, environment, server

LOAD = ["--config", "bench.toml", "--tui"]
CONFIG = """\
[server]
command = "./mcp-loadtest"
args = {arguments}
[scenario]
type = "sustained"
rate = "400/s"
duration = "60s"
[[scenario.tool_call]]
name = "echo"
args = {{ text = "hello" }}
weight = 5
[[scenario.tool_call]]
name = "lorem"
weight = 3
[[scenario.tool_call]]
name = "flaky"
args = {{ fail_rate = 0.1 }}
"""
FAULTS = ["slow:25@probability=0.15", "tool-error@probability=0.3,after=10s,until=14s"]
COLUMNS, ROWS = 100, 30
SECONDS = 35
COLOURS = "#1e242c #e5686a #58c27d #e0b04b #5aa9e6 #c58ae0 #4fc3d0 #cfd6de #6f7b88 #ff8a80 #8be9a8 #ffd877 #8ac7ff #e2b0ff #86e3ee #ffffff".split()
GROUND, INK = "#14191f", "#cfd6de"
PAGE = """<!DOCTYPE html><html data-ready="yes"><meta charset="utf-8"><style>
body {{ margin: 0; padding: 22px 26px; background: {ground}; color: {ink}; }}
pre {{ margin: 0; font: 15px/18px "DejaVu Sans Mono", monospace; }}
</style><pre>{screen}</pre></html>"""


def take(shots):
    tmux = environment("tmux") / "bin" / "tmux"
    with shots.folder() as folder:
        arguments = shlex.split(server(*FAULTS))[1:]
        (folder / "bench.toml").write_text(CONFIG.format(arguments=arguments))
        call = lambda *args: subprocess.run(
            [tmux, "-S", folder / "tmux.sock", *args], cwd=folder, check=True, capture_output=True, text=True
        ).stdout
        command = shlex.join(["./mcp-loadtest", "run", *LOAD])
        call("-f", "/dev/null", "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), command)
        try:
            time.sleep(SECONDS)
            screen = call("capture-pane", "-e", "-p")
        finally:
            call("kill-server")
        page = folder / "screen.html"
        page.write_text(PAGE.format(ground=GROUND, ink=INK, screen=as_html(screen)))
        shots.take(page, "dark", (COLUMNS * 9 + 56, ROWS * 18 + 44), "tui")


def as_html(screen):
    """Text with the colours of a terminal, as HTML with those of a style."""
    style, parts = {}, []
    for piece in re.split(r"(\x1b\[[0-9;]*m)", screen.rstrip("\n")):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", piece)
        if code:
            apply(style, [int(number or 0) for number in code.group(1).split(";")])
        elif piece:
            parts.append(f'<span style="{css(style)}">{escape(piece)}</span>')
    return "".join(parts)


def apply(style, codes):
    while codes:
        code = codes.pop(0)
        if code == 0:
            style.clear()
        elif code in (1, 7):
            style[code] = True
        elif code in (22, 27):
            style.pop(code - 21 if code == 22 else 7, None)
        elif code in (38, 48) and codes[:1] == [5]:
            style["ink" if code == 38 else "ground"] = COLOURS[codes[1] % 16]
            del codes[:2]
        elif code in (39, 49):
            style.pop("ink" if code == 39 else "ground", None)
        else:
            for base, shift, kind in ((30, 0, "ink"), (90, 8, "ink"), (40, 0, "ground"), (100, 8, "ground")):
                if base <= code < base + 8:
                    style[kind] = COLOURS[code - base + shift]


def css(style):
    ink, ground = style.get("ink", INK), style.get("ground", GROUND)
    if 7 in style:
        ink, ground = ground, ink
    weight = ";font-weight:bold" if 1 in style else ""
    return f"color:{ink};background:{ground}{weight}"
