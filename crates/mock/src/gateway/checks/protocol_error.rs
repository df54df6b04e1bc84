//! A JSON-RPC error of the server: does it reach the client as one, with all that it says?

use serde_json::{Value, json};

use crate::gateway::{
    bench::{Bench, shown, told},
    check::{Check, Finding, Untold},
};

pub(super) const ENTRY: Check = Check {
    id: "protocol_error",
    about: "A JSON-RPC error of the server reaches the client with its code, message and data.",
    advice: "Pass the `error` object on as it is. A client treats it otherwise than a result with \
             `isError`, which a model is to read.",
    run: |bench| Box::pin(run(bench)),
};

/// A code that no library gives by itself.
const CODE: i64 = -32050;

async fn run(bench: &Bench) -> Result<Finding, Untold> {
    let message = bench.marker();
    let data = json!({ "marker": message, "list": [1, null] });
    let arguments = json!({ "as_tool": false, "code": CODE, "message": message, "data": data });
    let reply = bench.call("error", arguments).await?;
    let error = match (reply.code, reply.json()) {
        (Some(_), Some(error)) => error,
        _ => return Ok(Finding::broken(format!("error {CODE} became {}", told(&reply)))),
    };
    let same = |name: &str, sent: &Value| {
        let got = &error[name];
        (got != sent).then(|| {
            format!("`{name}` {} became {}", shown(&sent.to_string()), shown(&got.to_string()))
        })
    };
    let wrong = [
        same("code", &CODE.into()),
        same("message", &message.as_str().into()),
        same("data", &data),
    ];
    let wrong = wrong.into_iter().flatten().collect();
    Ok(Finding::judge(wrong, format!("error {CODE} arrived with its message and its data")))
}
