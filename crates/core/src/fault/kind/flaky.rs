//! A tool that fails now and then, for clients that try again.

use crate::fault::{
    entry::{Entry, Form, Values},
    treatment::Instead,
};

pub(super) const ENTRY: Entry = Entry {
    name: "flaky",
    about: "This share of the calls, chosen by the seed, ends in a tool error.",
    argument: Some(Form {
        key: "probability",
        unit: "share",
        values: Values::Share,
        default: None,
    }),
    fires: |turn, dice| dice.unit() < turn.share(),
    treat: |_, treatment| treatment.instead = Some(failed()),
    ..Entry::USUAL
};

/// The result of a tool that failed; the model is not told that it is a test.
pub(super) fn failed() -> Instead {
    Instead::ToolError { text: "The tool failed: its backend did not respond.".into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fault::entry::{Argument, Turn},
        seed::Seed,
    };

    #[test]
    fn a_draw_that_is_the_share_itself_does_not_fail() {
        let drawn = Seed(1).dice(3).unit();
        for (share, fails) in [(drawn, false), (drawn.next_up(), true)] {
            let turn = Turn { argument: Argument::Share(share), ordinal: 3 };
            assert_eq!((ENTRY.fires)(turn, &mut Seed(1).dice(3)), fails, "{share} of {drawn}");
        }
    }
}
