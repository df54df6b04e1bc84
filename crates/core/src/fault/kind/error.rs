//! The request fails as requests do in JSON-RPC, with the words that servers use for the code.

use crate::fault::{
    entry::{Argument, Entry, Form, Values},
    treatment::Instead,
};

pub(super) const ENTRY: Entry = Entry {
    name: "error",
    about: "The call is answered with this JSON-RPC error.",
    argument: Some(Form {
        key: "code",
        unit: "code",
        values: Values::Whole(i32::MIN as i64, i32::MAX as i64),
        default: Some(Argument::Whole(-32603)),
    }),
    treat: |turn, treatment| {
        let code = turn.whole();
        let message = words(code).to_owned();
        treatment.instead = Some(Instead::Error { code, message, data: None });
    },
    ..Entry::USUAL
};

/// What a server would say: whoever sees the error is not told that it is a test.
const fn words(code: i64) -> &'static str {
    match code {
        -32700 => "Parse error",
        -32600 => "Invalid Request",
        -32601 => "Method not found",
        -32602 => "Invalid params",
        -32603 => "Internal error",
        _ => "Server error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_the_words_of_its_code() {
        for (code, expected) in [
            (-32700, "Parse error"),
            (-32600, "Invalid Request"),
            (-32601, "Method not found"),
            (-32602, "Invalid params"),
            (-32603, "Internal error"),
            (-32604, "Server error"),
            (32603, "Server error"),
        ] {
            assert_eq!(words(code), expected, "{code}");
        }
    }
}
