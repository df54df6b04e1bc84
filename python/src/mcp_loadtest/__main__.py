"""`python -m mcp_loadtest` is the program."""

import subprocess
import sys

from ._process import program

sys.exit(subprocess.call([program(), *sys.argv[1:]]))
