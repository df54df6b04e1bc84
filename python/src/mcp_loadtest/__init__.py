"""The program `mcp-loadtest`, started from Python."""

from ._process import Failed, Running, program, run

__all__ = ["Failed", "Running", "program", "run"]
