//! Results of several blocks: their order, their letters and their length.

use serde_json::{Value, json};

use crate::gateway::{
    bench::{Bench, shown, told},
    check::{Check, Finding, Untold},
};

pub(super) const ENTRY: Check = Check {
    id: "order",
    about: "The blocks of a result arrive in their order, unchanged, and all of them.",
    advice: "Pass `content` on as it is: do not sort, join, cut or re-encode its blocks.",
    run: |bench| Box::pin(run(bench)),
};

const BLOCKS: usize = 20;
const CHARS: usize = 20_000;

async fn run(bench: &Bench) -> Result<Finding, Untold> {
    let direct = bench.direct().await?;
    let mut wrong = Vec::new();
    for (tool, arguments) in
        [("chatty", json!({})), ("long_output", json!({ "blocks": BLOCKS, "chars": CHARS }))]
    {
        let expected = bench.call_direct(&direct, tool, arguments.clone()).await;
        let expected = blocks(&expected.json().unwrap_or_default());
        let reply = bench.call(tool, arguments).await?;
        match reply.json().filter(|_| reply.failure().is_none()) {
            Some(result) => wrong.extend(difference(tool, &expected, &blocks(&result))),
            None => wrong.push(format!("`{tool}` got {}", told(&reply))),
        }
    }
    direct.close().await;
    Ok(Finding::judge(wrong, format!("4 blocks, and {BLOCKS} of {CHARS} characters, arrived")))
}

/// What a block says; whether a library writes `null` for what is absent does not matter.
fn blocks(result: &Value) -> Vec<(String, String)> {
    let text = |block: &Value, key: &str| block[key].as_str().unwrap_or_default().to_owned();
    let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    blocks.iter().map(|block| (text(block, "type"), text(block, "text"))).collect()
}

type Block = (String, String);

fn difference(tool: &str, expected: &[Block], got: &[Block]) -> Option<String> {
    if expected.len() != got.len() {
        return Some(format!("`{tool}`: {} blocks became {}", expected.len(), got.len()));
    }
    let at = (0..got.len()).find(|at| expected[*at] != got[*at])?;
    if let Some(from) = expected.iter().position(|block| *block == got[at]) {
        return Some(format!("`{tool}`: in place of block {} came block {}", at + 1, from + 1));
    }
    let (kind, text) = &got[at];
    let lengths = (expected[at].1.chars().count(), text.chars().count());
    Some(format!(
        "`{tool}`: block {} of {} characters became {} of {}: {}",
        at + 1,
        lengths.0,
        shown(kind),
        lengths.1,
        shown(text)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_told_with_its_block() {
        let made = |texts: &[&str]| -> Vec<Block> {
            texts.iter().map(|text| ("text".to_owned(), (*text).to_owned())).collect()
        };
        let told = |got: &[&str]| difference("t", &made(&["a", "b"]), &made(got));
        assert_eq!(told(&["a", "b"]), None);
        assert_eq!(told(&["b", "a"]).unwrap(), "`t`: in place of block 1 came block 2");
        assert_eq!(told(&["ab"]).unwrap(), "`t`: 2 blocks became 1");
        assert!(
            told(&["a", "bb"]).unwrap().ends_with("block 2 of 1 characters became text of 2: bb")
        );
    }
}
