//! Nothing that clap or a schema knows is without a line, and no line without it.

use std::{collections::BTreeSet, fs};

use serde_json::Value;

use super::{Same, flags, keys, proof::Proof};
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
        "no line in cli/tests/it/effects/{of} for {missing:#?}; a line, and nothing else, for {stale:#?}"
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
    differences(&declared(), &told, "flags/");
}

/// `Type.key` for each key of each type of a schema, and `key.key` for what stands in the file itself;
/// for keys of the file that hold a type, `File.key`.
fn keys_of(schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let types = schema["$defs"].as_object().into_iter().flatten();
    if types.clone().any(|(_, part)| part["properties"].is_object()) && !is_inline(schema) {
        add_keys("File", schema, &mut found);
        types.for_each(|(name, part)| add_keys(name, part, &mut found));
    } else {
        add_paths("", schema, schema, &mut found);
    }
    found
}

/// Whether the sections of a file are told in full where they stand.
fn is_inline(schema: &Value) -> bool {
    let keys = schema["properties"].as_object().into_iter().flatten();
    keys.into_iter().all(|(_, part)| part["properties"].is_object())
}

fn choices(part: &Value) -> impl Iterator<Item = &Value> {
    ["oneOf", "anyOf", "allOf"].into_iter().filter_map(|key| part[key].as_array()).flatten()
}

fn add_keys(name: &str, part: &Value, found: &mut BTreeSet<String>) {
    for (key, _) in part["properties"].as_object().into_iter().flatten() {
        found.insert(format!("{name}.{key}"));
    }
    choices(part).for_each(|choice| add_keys(name, choice, found));
}

fn add_paths(before: &str, part: &Value, schema: &Value, found: &mut BTreeSet<String>) {
    let pointer = part["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    if let Some(meant) = pointer.and_then(|pointer| schema.pointer(pointer)) {
        add_paths(before, meant, schema, found);
    }
    for (key, value) in part["properties"].as_object().into_iter().flatten() {
        let name = format!("{before}{key}");
        add_paths(&format!("{name}."), value, schema, found);
        found.insert(name);
    }
    let inside = [&part["items"]].into_iter().filter(|items| items.is_object());
    choices(part).chain(inside).for_each(|choice| add_paths(before, choice, schema, found));
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
        let mut known = keys_of(&schema(file.schema));
        for same in file.same {
            let before = known.len();
            known.retain(|key| !is_told_there(same, key));
            assert!(known.len() < before, "{} has no `{}`", file.schema, same.0);
        }
        let of = format!("keys/{}.rs", file.schema);
        differences(&known, &told, &of);
    }
}

/// Whether a key is one of a type that another file has, and has its line there.
fn is_told_there(Same(name, schema, place): &Same, key: &str) -> bool {
    let own = key.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
    let there = own.and_then(|own| proof_of(schema, &format!("{place}.{own}")));
    there.is_some_and(|proof| !matches!(proof, Proof::Of(..)))
}

/// The proof of a key, wherever it is.
fn proof_of(schema: &str, key: &str) -> Option<&'static Proof> {
    let file = keys::FILES.iter().find(|file| file.schema == schema)?;
    file.keys.iter().find(|line| line.0 == key).map(|line| &line.1)
}

#[test]
fn what_is_proven_elsewhere_is_proven_there() {
    let run = flags::COMMANDS.iter().find(|command| command.name == "run").unwrap();
    for key in keys::FILES.iter().flat_map(|file| file.keys) {
        match &key.1 {
            Proof::Of(schema, other) => {
                let there =
                    proof_of(schema, other).unwrap_or_else(|| panic!("{}: no {other}", key.0));
                assert!(!matches!(there, Proof::Of(..)), "{} is proven nowhere", key.0);
            }
            Proof::Flagged(name) => {
                assert!(run.flags.iter().any(|flag| flag.0 == *name), "{}: no {name}", key.0);
            }
            _ => {}
        }
    }
}

/// The text of the file that a test stands in.
fn source_of(test: &str) -> Option<String> {
    let (folder, path) = test.split_once(' ')?;
    let module: Vec<_> = path.split("::").collect();
    let module = module[..module.len() - 1].join("/");
    let module = module.strip_suffix("/tests").map_or(module.as_str(), |above| above);
    let places = ["src", "tests/it"].into_iter().flat_map(|part| {
        let at = root().join("crates").join(folder).join(part);
        [
            at.join(format!("{module}.rs")),
            at.join(format!("{module}/mod.rs")),
            at.join(format!("{module}/tests.rs")),
        ]
    });
    let texts: Vec<_> = places.filter_map(|place| fs::read_to_string(place).ok()).collect();
    (!texts.is_empty()).then(|| texts.concat())
}

/// A test that never says the word does not prove much about it.
#[test]
fn every_test_speaks_of_its_key() {
    let mut silent = Vec::new();
    for key in keys::FILES.iter().flat_map(|file| file.keys) {
        let word = key.0.rsplit('.').next().unwrap();
        let texts =
            key.1.tests().iter().map(|test| source_of(test).unwrap_or_else(|| panic!("{test}")));
        let texts: Vec<_> = texts.collect();
        if !texts.is_empty() && !texts.iter().any(|text| text.contains(word)) {
            silent.push((key.0, key.1.tests()));
        }
    }
    assert!(silent.is_empty(), "{silent:#?}");
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
            if words == ["run"] && flag.0 != "--server" {
                words.push("--server=x");
            }
            let value = format!("{}={}", flag.0, flag.1);
            words.push(if flag.0.starts_with('-') { &value } else { flag.1 });
            let ran = run(&words);
            assert_eq!((ran.code, &*ran.out), (2, ""), "{words:?}: {}", ran.err);
            let name = flag.0.trim_start_matches('-').replace('-', "_");
            let is_word = flag.0.chars().all(char::is_uppercase);
            let is_named = is_word || ran.err.contains(flag.0) || ran.err.contains(&name);
            assert!(is_named, "{words:?}: {}", ran.err);
        }
    }
}
