#!/usr/bin/env python3
"""Writes the print of the script of report.html, by which the page's security policy names it."""

import base64
import hashlib
from pathlib import Path

ASSETS = Path(__file__).resolve().parents[1] / "crates" / "core" / "assets" / "report"

script = "".join("\n" + (ASSETS / name).read_text() for name in ("uplot/uPlot.iife.min.js", "report.js"))
digest = hashlib.sha256(script.encode()).digest()
(ASSETS / "script.sha256").write_text(base64.b64encode(digest).decode() + "\n")
