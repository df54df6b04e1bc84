//! Nothing that clap or a schema knows is without a line, and no line without it.

use std::{collections::BTreeSet, fs};

use serde_json::Value;

use super::{flags, keys, proof::Proof};
use crate::{
    abuse::proof::{all_tests, root},
    harness::run,
};

/// A flag that only a build with a feature has.
const OF_A_FEATURE: &str = "--otlp";

/// Every command with every flag and every place for a word.
fn declared() -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    gather("", &mcp_loadtest_cli::command(), &mut found);
    found
}

fn gather(name: &str, command: &clap::Command, found: &mut BTreeSet<(String, String)>) {
    for arg in command.get_arguments() {
        let flag = match (arg.get_long(), arg.get_short()) {
            (Some(long), _) => format!("--{long}"),
            (None, Some(short)) => format!("-{short}"),
            (None, None) => arg.get_id().as_str().to_uppercase(),
        };
        if flag != OF_A_FEATURE {
            found.insert((name.to_owned(), flag));
        }
    }
    for inner in command.get_subcommands() {
        let name = format!("{name} {}", inner.get_name());
        gather(name.trim(), inner, found);
    }
}

fn differences<T: Ord + std::fmt::Debug>(known: &BTreeSet<T>, told: &BTreeSet<T>, of: &str) {
    let missing: Vec<_> = known.difference(told).collect();
    let stale: Vec<_> = told.difference(known).collect();
    assert!(
        missing.is_empty() && stale.is_empty(),
        "{of}: no line for {missing:#?}, nothing for {stale:#?}"
    );
}

#[test]
fn every_flag_has_its_line() {
    let lines = flags::COMMANDS.iter().flat_map(|command| {
        command.flags.iter().map(|flag| (command.name.to_owned(), flag.0.to_owned()))
    });
    let lines: Vec<_> = lines.collect();
    let told: BTreeSet<_> = lines.iter().cloned().collect();
    assert_eq!(told.len(), lines.len(), "a flag has two lines");
    differences(&declared(), &told, "flags");
}

/// `Type.key` for each key of each type of a schema; the file itself is `File`.
fn keys_of(schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    add_keys("File", schema, &mut found);
    for (name, part) in schema["$defs"].as_object().into_iter().flatten() {
        add_keys(name, part, &mut found);
    }
    found
}

fn add_keys(name: &str, part: &Value, found: &mut BTreeSet<String>) {
    for key in part["properties"].as_object().into_iter().flatten().map(|(key, _)| key) {
        found.insert(format!("{name}.{key}"));
    }
    for choice in
        ["oneOf", "anyOf", "allOf"].iter().filter_map(|key| part[key].as_array()).flatten()
    {
        add_keys(name, choice, found);
    }
}

fn schema(name: &str) -> Value {
    let text = fs::read_to_string(root().join(format!("schemas/{name}.v1.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn every_key_has_its_line() {
    for file in keys::FILES {
        let told: BTreeSet<_> = file.keys.iter().map(|key| key.0.to_owned()).collect();
        assert_eq!(told.len(), file.keys.len(), "a key of {} has two lines", file.schema);
        differences(&keys_of(&schema(file.schema)), &told, file.schema);
    }
}

/// A type that two files share is proven once, as long as it is the same in both.
#[test]
fn what_is_proven_elsewhere_is_the_same_there() {
    for file in keys::FILES {
        for key in file.keys {
            let Proof::Of(other) = &key.1 else { continue };
            let (name, member) = key.0.split_once('.').unwrap();
            let at = |schema: &Value| match name {
                "File" => schema["properties"][member].clone(),
                _ => schema["$defs"][name]["properties"][member].clone(),
            };
            let (here, there) = (at(&schema(file.schema)), at(&schema(other)));
            assert_eq!(here, there, "{} of {} and {other}", key.0, file.schema);
            assert!(!here.is_null(), "{}", key.0);
            let others = keys::FILES.iter().find(|file| file.schema == *other).unwrap();
            let line = others.keys.iter().find(|line| line.0 == key.0).unwrap();
            assert!(!matches!(line.1, Proof::Of(_)), "{} is proven nowhere", key.0);
        }
    }
}

#[test]
fn every_test_that_is_named_exists() {
    let known = all_tests();
    let of_flags =
        flags::COMMANDS.iter().flat_map(|command| command.flags.iter().map(|flag| &flag.2));
    let of_keys = keys::FILES.iter().flat_map(|file| file.keys.iter().map(|key| &key.1));
    let named = of_flags.chain(of_keys).flat_map(Proof::tests);
    let unknown: BTreeSet<_> = named.filter(|test| !known.contains(**test)).collect();
    assert!(unknown.is_empty(), "there are no such tests: {unknown:#?}");
}

#[test]
fn every_proof_speaks_of_its_flag() {
    for command in flags::COMMANDS {
        for flag in command.flags {
            let Some(words) = flag.2.words() else { continue };
            let is_word = flag.0.chars().all(char::is_uppercase);
            assert!(is_word || words.contains(flag.0), "{} {}: {words}", command.name, flag.0);
        }
    }
}

#[test]
fn bad_values_are_refused_by_the_name_of_their_flag() {
    for command in flags::COMMANDS {
        for flag in command.flags.iter().filter(|flag| !flag.1.is_empty()) {
            let mut words: Vec<_> = command.name.split_whitespace().collect();
            if words.first() == Some(&"audit") && words.len() > 1 {
                words.insert(1, "x.db");
            }
            let value = format!("{}={}", flag.0, flag.1);
            words.push(if flag.0.starts_with('-') { &value } else { flag.1 });
            let ran = run(&words);
            assert_eq!((ran.code, &*ran.out), (2, ""), "{words:?}: {}", ran.err);
            let name = flag.0.trim_start_matches('-').replace('-', "_");
            let is_named = ran.err.contains(flag.0) || ran.err.contains(&name);
            assert!(is_named, "{words:?}: {}", ran.err);
        }
    }
}
