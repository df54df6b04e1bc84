#!/usr/bin/env python3
"""Writes the prints of the scripts of report.html, by which the page's security policy names them."""

import base64
import hashlib
from pathlib import Path

ASSETS = Path(__file__).resolve().parents[1] / "crates" / "core" / "assets" / "report"

# The page of a run that goes on has one script more.
PAGES = {
    "script.sha256": ("uplot/uPlot.iife.min.js", "report.js"),
    "live.sha256": ("uplot/uPlot.iife.min.js", "report.js", "live.js"),
}

for name, parts in PAGES.items():
    script = "".join("\n" + (ASSETS / part).read_text() for part in parts)
    digest = hashlib.sha256(script.encode()).digest()
    (ASSETS / name).write_text(base64.b64encode(digest).decode() + "\n")
