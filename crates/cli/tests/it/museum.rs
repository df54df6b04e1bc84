//! Published releases with bugs: each bug is found, and not in the release without it.
//!
//! Only the checks that an exhibit is about are carried out here; `make museum` asks nothing but the
//! plain `probe`, and takes as many minutes as this takes seconds.

use std::{path::PathBuf, process::Command};

use serde_json::Value;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A quarter of the exhibits, so that they can be looked at side by side.
fn visit(quarter: usize) {
    let manifest = std::fs::read(root().join("tests/museum/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let light = manifest["exhibits"].as_array().unwrap().iter().filter(|one| one["light"] == true);
    let ids: Vec<_> = light.map(|exhibit| exhibit["id"].as_str().unwrap()).collect();
    assert!(ids.len() >= 20, "{ids:?}");
    let mut command = Command::new("python3");
    command.arg(root().join("scripts/museum.py"));
    command.args(["--narrow", "--binary", env!("CARGO_BIN_EXE_mcp-loadtest")]);
    for id in ids.into_iter().skip(quarter).step_by(4) {
        command.args(["--only", id]);
    }
    let ran = command.output().unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{told}{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn the_first_quarter() {
    visit(0);
}

#[test]
fn the_second_quarter() {
    visit(1);
}

#[test]
fn the_third_quarter() {
    visit(2);
}

#[test]
fn the_last_quarter() {
    visit(3);
}
