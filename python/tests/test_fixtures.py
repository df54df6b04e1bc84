"""The fixtures as a user has them: installed, and found by pytest itself."""

import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request

import pytest

import mcp_loadtest

HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
FIXTURES = {
    "fixtures": [
        {"when": {"times": 1}, "error": {"status": 429, "message": "slow down"}},
        {"response": {"content": "Hello from nowhere."}},
    ]
}


def post(url, document, headers=HEADERS):
    request = urllib.request.Request(url, json.dumps(document).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as reply:
        return reply.headers, reply.read().decode()


def call(url, tool, arguments):
    """A whole session of the older era, and the text of one call."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    headers, _ = post(url, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    session = dict(HEADERS)
    if "Mcp-Session-Id" in headers:
        session["Mcp-Session-Id"] = headers["Mcp-Session-Id"]
    session["MCP-Protocol-Version"] = "2025-06-18"
    post(url, {"jsonrpc": "2.0", "method": "notifications/initialized"}, session)
    params = {"name": tool, "arguments": arguments}
    return post(url, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}, session)[1]


def test_a_mock_answers_and_fails_as_it_was_told(mcp_mock):
    assert "hello" in call(mcp_mock().url, "echo", {"message": "hello"})
    failing = mcp_mock("error:-32050@tool=echo")
    assert "-32050" in call(failing.url, "echo", {"message": "hello"})


def test_a_proxy_adds_its_fault_to_a_healthy_server(mcp_mock, mcp_proxy):
    proxy = mcp_proxy("error:-32051@tool=echo", upstream=mcp_mock().url)
    assert "-32051" in call(proxy.url, "echo", {"message": "hello"})


def test_a_model_fails_once_and_then_answers(llm_mock):
    url = llm_mock(FIXTURES).url + "/v1/chat/completions"
    question = {"model": "any", "messages": [{"role": "user", "content": "hello"}]}
    with pytest.raises(urllib.error.HTTPError, match="429"):
        post(url, question)
    assert "Hello from nowhere." in post(url, question)[1]


def test_a_load_passes_or_says_why_not(mcp_load):
    server = f"{mcp_loadtest.program()} mock"
    summary = mcp_load(server=server, tool="echo", duration="300ms")
    assert summary["passed"] and summary["ok"] > 0, summary
    summary = mcp_load(server=server, tool="echo", duration="300ms", min_rps=10**9)
    assert not summary["passed"]
    assert summary["threshold_violations"][0]["metric"] == "min_rps"


def test_a_load_that_cannot_be_judged_is_no_result(mcp_load, tmp_path):
    mock = f"{mcp_loadtest.program()} mock"
    load = {"tool": "echo", "duration": "300ms"}
    base = mcp_load(server=mock, output_dir=str(tmp_path), **load)["run_dir"]
    # It is there when the run begins, and gone when the run is to be compared with it.
    server = f"sh -c 'rm -rf {base}; exec {mock}'"
    with pytest.raises(mcp_loadtest.Failed, match="is not a run directory"):
        mcp_load(server=server, baseline=base, output_dir=str(tmp_path), **load)


def test_what_cannot_be_started_says_why(mcp_mock, mcp_load):
    with pytest.raises(mcp_loadtest.Failed, match="no-such-fault"):
        mcp_mock("no-such-fault")
    with pytest.raises(mcp_loadtest.Failed, match="no-such-program"):
        mcp_load(server="no-such-program", tool="echo")


def test_an_admin_interface_is_told(mcp_mock):
    with urllib.request.urlopen(mcp_mock(admin="127.0.0.1:0").admin + "/health", timeout=30) as reply:
        assert reply.status == 200


def is_there(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(what, condition):
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.05)


def test_nothing_outlives_a_test_that_fails(pytester):
    pytester.makepyfile(
        """
        def test_fails(mcp_mock):
            server = mcp_mock()
            open("pid", "w").write(str(server._process.pid))
            assert False
        """
    )
    pytester.runpytest_inprocess().assert_outcomes(failed=1)
    assert not is_there(int((pytester.path / "pid").read_text()))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_a_session_that_ends_early(pytester, how):
    pytester.makepyfile(
        """
        import time

        def test_waits(mcp_mock):
            server = mcp_mock()
            open("pid", "w").write(str(server._process.pid))
            time.sleep(600)
        """
    )
    session = pytester.popen([sys.executable, "-m", "pytest", "-q"])
    file = pytester.path / "pid"
    wait_until("the test has begun", lambda: file.exists() and file.read_text())
    session.send_signal(how)
    session.wait(60)
    wait_until("the server is gone", lambda: not is_there(int(file.read_text())))
