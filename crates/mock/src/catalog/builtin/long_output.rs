//! Many blocks of text, each of exactly the length that was asked for.

use serde_json::json;

use super::{read_only, whole};
use crate::{
    catalog::tool::{Tool, listing},
    mcp::result::{CallResult, Content},
};

const PATTERN: &str = "abcdefghij";

pub(super) fn tool() -> Tool {
    let properties = json!({
        "blocks": { "type": "integer", "description": "How many, up to 50; 0 means 5." },
        "chars": { "type": "integer", "description": "How long each, up to 65536; 0 means 1000." },
    });
    let description = "Gives many blocks of text.";
    let mut listing = listing("long_output", description, properties, &[]);
    listing.annotations = read_only();
    Tool::now(listing, |call| {
        let number = |key: &str, default: usize, most: usize| match whole(&call.arguments[key]) {
            Some(number) if number > 0 => (number as usize).min(most),
            _ => default,
        };
        let chars = number("chars", 1_000, 65_536);
        let blocks = (0..number("blocks", 5, 50)).map(|index| block(index, chars));
        CallResult { content: blocks.collect(), ..CallResult::default() }.into()
    })
}

fn block(index: usize, chars: usize) -> Content {
    let begin = format!("[block {index}] ");
    let text = begin.chars().chain(PATTERN.chars().cycle());
    Content::Text(text.take(chars).collect::<String>().into())
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{call, result, texts},
        *,
    };

    #[test]
    fn blocks_have_their_length() {
        let result = result(call(&tool(), json!({"blocks": 3, "chars": 21})));
        assert_eq!(
            texts(&result),
            ["[block 0] abcdefghija", "[block 1] abcdefghija", "[block 2] abcdefghija"]
        );
        assert!(result.structured.is_none());
    }
}
