//! OpenAI: embeddings. A vector is made from its text alone, so that equal texts are equal.

use mcp_loadtest_core::{
    llm::{Block, Problem, Provider, Request, estimated_tokens},
    seed::Seed,
};
use serde_json::{Value, json};

use super::{Dialect, Kind, Reply, Route, bare, json_bytes, text};
use crate::llm::hash;

pub(super) static DIALECT: Dialect = Dialect {
    provider: Provider::Openai,
    path: "/v1/embeddings",
    verb: "POST",
    route: |path, _| (path == "/v1/embeddings").then(Route::default),
    read,
    kind: Kind::Whole(|reply| json_bytes(&whole(reply))),
};

/// The length of a vector, unless another one is asked for.
const DIMENSIONS: u64 = 1536;
const MOST_DIMENSIONS: u64 = 8192;
/// More texts at once than this are refused, as the provider refuses them.
const MOST_INPUTS: usize = 2048;

fn read(_: &Route, body: Value) -> Result<Request, Problem> {
    let model = text(&body, "model")?.to_owned();
    let inputs = inputs(&body);
    if inputs.is_empty() || inputs.len() > MOST_INPUTS {
        return Err(Problem::new(400, format!("`input` is 1 to {MOST_INPUTS} texts")));
    }
    let dimensions = body.get("dimensions").and_then(Value::as_u64).unwrap_or(DIMENSIONS);
    if !(1..=MOST_DIMENSIONS).contains(&dimensions) {
        return Err(Problem::new(400, format!("`dimensions` is between 1 and {MOST_DIMENSIONS}")));
    }
    let mut request = bare(Provider::Openai, model, Value::Null);
    request.user_message = inputs.join("\n");
    request.body = body;
    Ok(request)
}

fn inputs(body: &Value) -> Vec<String> {
    match &body["input"] {
        Value::String(text) => vec![text.clone()],
        Value::Array(list) if list.iter().all(Value::is_number) && !list.is_empty() => {
            vec![body["input"].to_string()]
        }
        Value::Array(list) => list
            .iter()
            .map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned))
            .collect(),
        _ => Vec::new(),
    }
}

fn whole(reply: &Reply) -> Value {
    let body = &reply.request.body;
    let dimensions = body.get("dimensions").and_then(Value::as_u64).unwrap_or(DIMENSIONS);
    let given = reply.answer.blocks.iter().find_map(|block| match block {
        Block::Embedding(vector) => Some(vector.clone()),
        _ => None,
    });
    let in_base64 = body["encoding_format"] == "base64";
    let data: Vec<_> = inputs(body)
        .iter()
        .enumerate()
        .map(|(index, input)| {
            let vector = given.clone().unwrap_or_else(|| made_up(input, dimensions));
            let embedding = if in_base64 { base64(&vector) } else { json!(vector) };
            json!({ "object": "embedding", "index": index, "embedding": embedding })
        })
        .collect();
    let tokens = estimated_tokens(inputs(body).iter().map(String::len).sum());
    json!({
        "object": "list",
        "data": data,
        "model": reply.request.model,
        "usage": { "prompt_tokens": tokens, "total_tokens": tokens },
    })
}

/// A vector of length 1 that depends on the text alone.
fn made_up(text: &str, dimensions: u64) -> Vec<f64> {
    let mut dice = Seed(hash(text.as_bytes())).dice(0);
    let raw: Vec<_> = (0..dimensions).map(|_| 2.0 * dice.unit() - 1.0).collect();
    let length = raw.iter().map(|part| part * part).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    raw.into_iter().map(|part| ((part / length) * 1e9).round() / 1e9).collect()
}

/// As little-endian floats of four bytes, which is what the official clients ask for.
fn base64(vector: &[f64]) -> Value {
    use base64::Engine as _;
    let bytes: Vec<u8> = vector.iter().flat_map(|part| (*part as f32).to_le_bytes()).collect();
    base64::engine::general_purpose::STANDARD.encode(bytes).into()
}
