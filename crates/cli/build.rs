//! Tells a release build of which commit it is, where that can be known. Other builds are not told: each
//! commit would build them anew. Nothing is run and nothing is fetched.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

const COMMIT: &str = "MCP_LOADTEST_COMMIT";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={COMMIT}");
    if env::var_os(COMMIT).is_some()
        || env::var_os("PROFILE").is_none_or(|profile| profile != "release")
    {
        return;
    }
    let root = env::var_os("CARGO_MANIFEST_DIR").map(|dir| PathBuf::from(dir).join("../.."));
    if let Some(commit) = root.and_then(|root| commit(&root.join(".git"))) {
        println!("cargo::rustc-env={COMMIT}={commit}");
    }
}

/// What HEAD of a repository stands for.
fn commit(git: &Path) -> Option<String> {
    let own = match fs::read_to_string(git) {
        // A second working tree has a file that says where its part of the repository is.
        Ok(text) => PathBuf::from(text.strip_prefix("gitdir:")?.trim()),
        Err(_) => git.to_owned(),
    };
    let shared = read(&own.join("commondir")).map_or(own.clone(), |path| own.join(path));
    let head = read(&own.join("HEAD"))?;
    let commit = match head.strip_prefix("ref:") {
        None => head,
        Some(name) => {
            let name = name.trim();
            read(&shared.join(name)).or_else(|| packed(&shared, name))?
        }
    };
    commit.chars().all(|c| c.is_ascii_hexdigit()).then_some(commit)
}

/// A reference that git has put away together with others.
fn packed(shared: &Path, name: &str) -> Option<String> {
    let all = read(&shared.join("packed-refs"))?;
    let mut pairs = all.lines().filter_map(|line| line.split_once(' '));
    pairs.find(|(_, other)| *other == name).map(|(commit, _)| commit.to_owned())
}

fn read(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    println!("cargo::rerun-if-changed={}", path.display());
    Some(text.trim().to_owned())
}
