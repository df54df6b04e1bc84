"""Fixtures: each gives a function that starts something, and ends all of it after the test."""

import contextlib
import json
import uuid

import pytest

from ._process import Running, run


@pytest.fixture
def _running():
    """What a test started, ended in reverse order even if ending one of them fails."""
    with contextlib.ExitStack() as stack:
        yield lambda *words, **options: stack.enter_context(Running(*words, **options))


@pytest.fixture
def mcp_mock(_running):
    """An MCP server over HTTP that fails as you say: `mcp_mock("hang@tool=echo").url`."""

    def start(*faults, transport="http", **options):
        return _running("mock", transport=transport, fault=list(faults), **options)

    return start


@pytest.fixture
def mcp_proxy(_running):
    """A proxy before a server that is reached by its address: `mcp_proxy("error", upstream=url).url`."""

    def start(*faults, upstream, **options):
        return _running("proxy", upstream=upstream, fault=list(faults), **options)

    return start


@pytest.fixture
def llm_mock(_running, tmp_path):
    """The API of a model, answered from fixtures: a file, or a dictionary in place of one."""

    def start(fixtures, **options):
        if isinstance(fixtures, dict):
            file = tmp_path / f"fixtures-{uuid.uuid4().hex}.json"
            file.write_text(json.dumps(fixtures))
            fixtures = file
        return _running("llm", fixtures=str(fixtures), **options)

    return start


@pytest.fixture
def mcp_load(tmp_path):
    """Runs a load and gives its summary: `mcp_load(server="python -m my_mcp", tool="x")["passed"]`."""

    def load(**options):
        options.setdefault("output_dir", str(tmp_path / "runs"))
        return run("run", **options)

    return load
