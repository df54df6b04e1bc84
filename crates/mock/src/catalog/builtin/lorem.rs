//! As many words as were asked for, the same ones for the same seed.

use mcp_loadtest_core::seed::Seed;
use serde_json::json;

use super::{
    pcg::{Pcg, fnv1a},
    read_only, whole,
};
use crate::{
    catalog::tool::{Tool, listing},
    mcp::result::CallResult,
};

const DEFAULT: i64 = 50;
const MOST: i64 = 5_000;

const WORDS: [&str; 62] = [
    "lorem",
    "ipsum",
    "dolor",
    "sit",
    "amet",
    "consectetur",
    "adipiscing",
    "elit",
    "sed",
    "do",
    "eiusmod",
    "tempor",
    "incididunt",
    "ut",
    "labore",
    "et",
    "dolore",
    "magna",
    "aliqua",
    "enim",
    "ad",
    "minim",
    "veniam",
    "quis",
    "nostrud",
    "exercitation",
    "ullamco",
    "laboris",
    "nisi",
    "aliquip",
    "ex",
    "ea",
    "commodo",
    "consequat",
    "duis",
    "aute",
    "irure",
    "reprehenderit",
    "voluptate",
    "velit",
    "esse",
    "cillum",
    "eu",
    "fugiat",
    "nulla",
    "pariatur",
    "excepteur",
    "sint",
    "occaecat",
    "cupidatat",
    "non",
    "proident",
    "sunt",
    "culpa",
    "qui",
    "officia",
    "deserunt",
    "mollit",
    "anim",
    "id",
    "est",
    "laborum",
];

pub(super) fn tool() -> Tool {
    let properties = json!({
        "words": { "type": "integer", "description": "How many, up to 5000; 0 means 50." },
        "seed": { "type": "string", "description": "The same seed gives the same words." },
    });
    let description = "Gives so many words of Latin, or of something that looks like it.";
    let mut listing = listing("lorem", description, properties, &[]);
    listing.annotations = read_only();
    Tool::now(listing, |call| {
        let words = match whole(&call.arguments["words"]).unwrap_or(0) {
            ..=0 => DEFAULT,
            words => words.min(MOST),
        };
        let seed = call.arguments["seed"].as_str().unwrap_or_default();
        let body = sentence(words as usize, &mut generator(seed));
        CallResult::value(&json!({ "body": body, "words": words })).into()
    })
}

fn generator(seed: &str) -> Pcg {
    if seed.is_empty() {
        let mut dice = Seed(super::flaky::entropy()).dice(0);
        return Pcg::new(dice.next_u64(), dice.next_u64());
    }
    Pcg::new(fnv1a(seed), fnv1a(&format!("salt:{seed}")))
}

fn sentence(words: usize, pcg: &mut Pcg) -> String {
    let chosen: Vec<_> = (0..words).map(|_| WORDS[pcg.below(WORDS.len())]).collect();
    let text = chosen.join(" ");
    let (first, rest) = text.split_at(text.len().min(1));
    format!("{}{rest}.", first.to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_words() {
        let text = sentence(6, &mut generator("abc"));
        assert_eq!(text, "Exercitation et qui dolore duis labore.");
    }
}
