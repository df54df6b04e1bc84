//! Real clients of OAuth 2.0 in front of the model: Authlib gets the tokens, OpenAI's SDK asks with them.

use std::{fs, path::Path};

use crate::{
    clients::home,
    harness::{Ran, run_in},
};

const FIXTURES: &str = "fixtures: [{response: {content: fine}}]\n\
                        oauth: {client_id: app, client_secret: quiet, uses: 2}\n";

fn tried(how: &str) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f.yml"), FIXTURES).unwrap();
    let python = home("agents-python").join("bin/python").display().to_string();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/llm/oauth.py");
    let script = script.canonicalize().unwrap().display().to_string();
    run_in(folder.path(), &["llm", "--fixtures", "f.yml", "--verdict", "--", &python, &script, how])
}

#[test]
fn a_client_that_renews_its_token_passes_and_one_that_does_not_is_told() {
    let careful = tried("careful");
    assert_eq!(careful.code, 0, "{}{}", careful.out, careful.err);
    assert!(careful.out.contains("PASS"), "{}", careful.out);
    let careless = tried("careless");
    assert_eq!(careless.code, 1, "{}{}", careless.out, careless.err);
    assert!(careless.out.contains("token_not_renewed"), "{}", careless.out);
}

#[test]
fn a_user_is_let_in_by_a_browser_and_stays_in() {
    let ran = tried("user");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("PASS"), "{}", ran.out);
}
