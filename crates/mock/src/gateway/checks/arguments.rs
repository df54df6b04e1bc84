//! The arguments of a call, held against what the server got.

use serde_json::{Value, json};

use crate::gateway::{
    bench::{Bench, told},
    check::{Check, Finding, Untold},
    compare::differences,
};

pub(super) const ENTRY: Check = Check {
    id: "arguments",
    about: "The arguments of a call reach the server as they were sent.",
    advice: "Pass `arguments` on without reading them into other types: numbers above 2^53, `null` \
             and members that a schema does not name get lost on the way.",
    run: |bench| Box::pin(run(bench)),
};

/// What libraries like to change.
fn awkward(marker: &str) -> Value {
    json!({
        "message": marker,
        "extras": {
            "letters": "Zürich ☃ \u{1d11e} \"\\\n",
            "large": 9_007_199_254_740_993_i64,
            "fraction": 0.1,
            "null": null,
            "empty": { "object": {}, "list": [], "text": "" },
            "list": [1, "1", true, [null]],
        },
    })
}

async fn run(bench: &Bench) -> Result<Finding, Untold> {
    let (mark, marker) = (bench.upstream.mark(), bench.marker());
    let sent = awkward(&marker);
    let reply = bench.call("echo", sent.clone()).await?;
    let rows = bench.upstream.calls_with(mark, "echo", &marker);
    let Some(row) = rows.last() else {
        return Ok(Finding::broken(format!(
            "the call never arrived; the client got {}",
            told(&reply)
        )));
    };
    let arrived = serde_json::from_str(row.arguments.as_deref().unwrap_or_default());
    let arrived: Value = arrived.unwrap_or(Value::Null);
    let differences = differences(&sent, &arrived);
    let added = (!differences.added.is_empty())
        .then(|| format!("added on the way: {}", differences.added.join(", ")));
    let finding = match (differences.changed.is_empty(), &added) {
        (true, None) => return Ok(Finding::kept("they arrived as they were sent")),
        // A gateway may be there to add something.
        (true, Some(added)) => return Ok(Finding::measured(added)),
        (false, _) => Finding::judge(differences.changed, ""),
    };
    Ok(added.into_iter().fold(finding, Finding::and))
}
