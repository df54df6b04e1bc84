//! A result with `isError`: does it stay one?

use serde_json::json;

use crate::gateway::{
    bench::{Bench, shown, texts, told},
    check::{Check, Finding, Untold},
};

pub(super) const ENTRY: Check = Check {
    id: "tool_error",
    about: "A result with `isError` stays a result with `isError`, and its text stays.",
    advice: "Pass the result on as it is: a model is to read what went wrong, and a JSON-RPC error \
             does not reach it.",
    run: |bench| Box::pin(run(bench)),
};

async fn run(bench: &Bench) -> Result<Finding, Untold> {
    let message = bench.marker();
    let reply = bench.call("error", json!({ "as_tool": true, "message": message })).await?;
    let result = match (reply.code, reply.json()) {
        (None, Some(result)) if result["isError"] == true => result,
        _ => {
            return Ok(Finding::broken(format!("a result with `isError` became {}", told(&reply))));
        }
    };
    let wrong = match texts(&result).as_slice() {
        [text] if *text == message => Vec::new(),
        texts => vec![format!("its text \"{message}\" became {}", shown(&format!("{texts:?}")))],
    };
    Ok(Finding::judge(wrong, "`isError` arrived with its text"))
}
