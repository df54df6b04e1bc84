//! Collects the calls of a scenario while it is being described.

use serde_json::Value;

use super::ToolCall;

/// The calls named so far, each with whether its arguments were given. `.tool().args()` and
/// `.args().tool()` mean the same, also when several tools follow each other.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Calls {
    list: Vec<(ToolCall, bool)>,
    /// Arguments that came before their tool.
    loose: Option<Value>,
}

impl Calls {
    pub(super) fn add(&mut self, call: ToolCall) {
        self.list.push((call, true));
    }

    pub(super) fn tool(&mut self, name: String) {
        let call = ToolCall::new(name);
        self.list.push(match self.loose.take() {
            Some(args) => (call.args(args), true),
            None => (call, false),
        });
    }

    pub(super) fn args(&mut self, args: Value) {
        match self.list.last_mut() {
            Some((call, given @ false)) => (call.args, *given) = (args, true),
            _ => self.loose = Some(args),
        }
    }

    pub(super) fn finish(mut self) -> Vec<ToolCall> {
        if let Some(loose) = self.loose {
            match self.list.last_mut() {
                // `.args` said twice: the last word counts.
                Some((call, _)) => call.args = loose,
                // Arguments for no tool at all: the nameless call is refused when checked.
                None => self.list.push((ToolCall::new("").args(loose), true)),
            }
        }
        self.list.into_iter().map(|(call, _)| call).collect()
    }
}
