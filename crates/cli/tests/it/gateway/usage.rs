//! What cannot be checked, and what is said about it.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::Command,
};

use super::{fixture, over_pipes};
use crate::{harness::run, process::binary};

#[test]
fn a_gateway_that_passes_nothing_is_not_checked() {
    let ran = over_pipes(&[], "dead");
    assert_eq!((ran.code, &*ran.out), (2, ""), "{}", ran.err);
    assert!(
        ran.err.contains("not even a plain `echo` passes the gateway: error -32000: not today")
    );
    let ran = run(&["gateway", "--", "python3", "-c", "import sys; sys.exit('no config')"]);
    assert_eq!((ran.code, &*ran.out), (2, ""), "{}", ran.err);
    assert!(ran.err.contains("| no config"), "{}", ran.err);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for (args, part) in [
        (&["gateway"][..], "there is no gateway"),
        (&["gateway", "--gateway", "http://127.0.0.1:1/mcp"], "--upstream-port"),
        (&["gateway", "--only", "cancle", "--", "gw"], "did you mean `cancel`?"),
        (&["gateway", "--only", "hang", "--skip", "hang", "--", "gw"], "no check is left"),
        (&["gateway", "--header", "A: b", "--", "gw"], "--gateway"),
        (&["gateway", "--gateway", "ws://h/", "--upstream-port", "9"], "Streamable HTTP"),
    ] {
        let ran = run(args);
        assert_eq!((ran.code, &*ran.out), (2, ""), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(part), "{args:?}: no {part:?} in {}", ran.err);
    }
}

#[test]
fn every_check_is_explained() {
    let ran = run(&["gateway", "--explain"]);
    for check in mcp_loadtest_mock::gateway::CHECKS {
        assert!(ran.out.contains(check.about), "{}", ran.out);
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_gateway_and_tells_what_was_found() {
    let script = fixture("gateway.py");
    let script = format!("echo started $$ >&2; exec python3 {script} {{upstream}} no-cancel");
    let mut command = binary();
    command.args(["gateway", "--tee-stderr", "--only", "cancel", "--", "sh", "-c", &script]);
    let mut child = command.spawn().unwrap();
    // The first one only tells the era. With the second, the check lasts for ten seconds and more.
    let talk = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let started = talk.filter_map(|line| Some(line.split_once("started ")?.1.to_owned()));
    let gateways: Vec<_> = started.take(2).collect();
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert_eq!(ended.status.code(), Some(130), "{said}");
    assert!(said.starts_with("INTERRUPTED "), "{said}");
    assert_eq!(gateways.len(), 2);
    for pid in gateways {
        assert!(!Path::new("/proc").join(pid.trim()).exists(), "{pid} is left");
    }
}
