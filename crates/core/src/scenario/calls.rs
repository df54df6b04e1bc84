//! Collects the calls of a scenario while it is being described.

use serde_json::Value;

use super::ToolCall;

/// The calls named so far: name, arguments once given, weight. `.tool().args()` and
/// `.args().tool()` mean the same, also when several tools follow each other.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Calls {
    list: Vec<(String, Option<Value>, f64)>,
    /// Arguments that came before their tool.
    loose: Option<Value>,
}

impl Calls {
    pub(super) fn add(&mut self, call: ToolCall) {
        self.list.push((call.name, Some(call.args), call.weight));
    }

    pub(super) fn tool(&mut self, name: String) {
        self.list.push((name, self.loose.take(), 1.0));
    }

    pub(super) fn args(&mut self, args: Value) {
        match self.list.last_mut() {
            Some((_, unset @ None, _)) => *unset = Some(args),
            _ => self.loose = Some(args),
        }
    }

    pub(super) fn finish(mut self) -> Vec<ToolCall> {
        if let Some(loose) = self.loose {
            match self.list.last_mut() {
                // `.args` said twice: the last word counts.
                Some((_, args, _)) => *args = Some(loose),
                // Arguments for no tool at all: the nameless call is refused when checked.
                None => self.list.push((String::new(), Some(loose), 1.0)),
            }
        }
        let call = |(name, args, weight): (String, Option<Value>, f64)| {
            let call = ToolCall::new(name).weight(weight);
            match args {
                Some(args) => call.args(args),
                None => call,
            }
        };
        self.list.into_iter().map(call).collect()
    }
}
