//! Tools under the names that a gateway gives them: many put that of the server in front.

use std::collections::BTreeMap;

use mcp_loadtest_core::display::visible;

use super::check::Untold;

/// What the gateway offers.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<String>);

impl Names {
    pub(super) fn new(listed: impl IntoIterator<Item = String>) -> Self {
        Self(listed.into_iter().collect())
    }

    /// The name under which the gateway offers a tool of ours.
    pub(super) fn find(&self, tool: &str) -> Result<&str, Untold> {
        let plain = self.0.iter().find(|name| *name == tool);
        // The shortest: `files_echo` rather than `files_echo_echo`.
        let found = plain.or_else(|| {
            self.0.iter().filter(|name| ends_with_word(name, tool)).min_by_key(|name| name.len())
        });
        found.map(String::as_str).ok_or_else(|| Untold(self.missing(tool)))
    }

    /// Those of our tools that go by another name.
    pub(super) fn renamed(&self, tools: &[&str]) -> BTreeMap<String, String> {
        let other = |tool: &&str| {
            let name = self.find(tool).ok().filter(|name| name != tool)?;
            Some(((*tool).to_owned(), name.to_owned()))
        };
        tools.iter().filter_map(other).collect()
    }

    fn missing(&self, tool: &str) -> String {
        let listed: Vec<_> = self.0.iter().take(8).map(|name| visible(name, 40)).collect();
        match listed.as_slice() {
            [] => "the gateway offers no tools".into(),
            some => format!("the gateway does not offer `{tool}`, but {}", some.join(", ")),
        }
    }
}

/// `server_tool`, `server__tool`, `server.tool` and the like; not `atool`.
fn ends_with_word(name: &str, tool: &str) -> bool {
    name.strip_suffix(tool)
        .and_then(|rest| rest.chars().next_back())
        .is_some_and(|before| !before.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_seen_through() {
        let names = ["mock__echo", "mock__long_output", "flow", "srv.slow", "mock_output"];
        let names = Names::new(names.map(str::to_owned));
        assert_eq!(names.find("echo").unwrap(), "mock__echo");
        assert_eq!(names.find("slow").unwrap(), "srv.slow");
        assert_eq!(names.find("long_output").unwrap(), "mock__long_output");
        assert!(names.find("low").is_err());
        assert_eq!(names.renamed(&["echo", "flow"]).len(), 1);
        assert_eq!(Names::default().find("echo").unwrap_err().0, "the gateway offers no tools");
    }

    #[test]
    fn the_plain_name_wins() {
        let names = Names::new(["a_echo", "echo"].map(str::to_owned));
        assert_eq!(names.find("echo").unwrap(), "echo");
    }
}
