//! Where in a configuration something is: `[thresholds] p99_latency`, `[scenario] tool_call[1].weight`.

use std::fmt;

/// One step down into a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Into a table.
    Key(String),
    /// Into an array; the first element is 0.
    Index(usize),
}

/// The way to a value from the top of the document. Empty for the document itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeyPath {
    steps: Vec<Step>,
    /// Whether the file has no sections: `tools[0].name` rather than `[tools][0].name`.
    is_plain: bool,
}

impl KeyPath {
    /// The steps from the top.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// One step further, into a table.
    #[must_use]
    pub fn key(&self, name: impl Into<String>) -> Self {
        self.then(Step::Key(name.into()))
    }

    /// One step further, into an array.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.then(Step::Index(index))
    }

    fn then(&self, step: Step) -> Self {
        let steps = self.steps.iter().cloned().chain([step]).collect();
        Self { steps, is_plain: self.is_plain }
    }

    /// The same in a file that has no sections.
    #[must_use]
    pub fn plain(self) -> Self {
        Self { is_plain: true, ..self }
    }

    /// The path without its array positions: `scenario.tool_call.weight`.
    pub(super) fn dotted(&self) -> String {
        let keys: Vec<&str> = self.steps.iter().filter_map(Step::name).collect();
        keys.join(".")
    }

    /// The name of the last table key.
    pub fn last_key(&self) -> Option<&str> {
        self.steps.iter().rev().find_map(Step::name)
    }
}

impl Step {
    fn name(&self) -> Option<&str> {
        match self {
            Self::Key(name) => Some(name),
            Self::Index(_) => None,
        }
    }
}

/// Reads `scenario.tool_call[1].weight`. For keys that hold dots or brackets use [`KeyPath::key`].
impl From<&str> for KeyPath {
    fn from(text: &str) -> Self {
        let mut path = Self::default();
        for part in text.split('.').filter(|part| !part.is_empty()) {
            let mut pieces = part.split('[');
            path = path.key(pieces.next().unwrap_or_default());
            for index in pieces.filter_map(|piece| piece.trim_end_matches(']').parse().ok()) {
                path = path.index(index);
            }
        }
        path
    }
}

impl From<String> for KeyPath {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<&serde_path_to_error::Path> for KeyPath {
    fn from(path: &serde_path_to_error::Path) -> Self {
        use serde_path_to_error::Segment;
        let steps = path.iter().filter_map(|segment| match segment {
            Segment::Seq { index } => Some(Step::Index(*index)),
            Segment::Map { key } => Some(Step::Key(key.clone())),
            Segment::Enum { .. } | Segment::Unknown => None,
        });
        Self { steps: steps.collect(), is_plain: false }
    }
}

/// The section in brackets, as it stands in the file, then the rest.
impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, step) in self.steps.iter().enumerate() {
            match step {
                Step::Key(name) if depth == 0 && self.is_plain => f.write_str(name)?,
                Step::Key(name) if depth == 0 => write!(f, "[{name}]")?,
                Step::Key(name) if depth == 1 && !self.is_plain => write!(f, " {name}")?,
                Step::Key(name) => write!(f, ".{name}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_as_it_stands_in_the_file() {
        let path = KeyPath::from("scenario.tool_call[1].weight");
        assert_eq!(path.to_string(), "[scenario] tool_call[1].weight");
        assert_eq!(path.dotted(), "scenario.tool_call.weight");
        assert_eq!(path.last_key(), Some("weight"));
        assert_eq!(path, KeyPath::from("scenario").key("tool_call").index(1).key("weight"));
        assert_eq!(path.plain().to_string(), "scenario.tool_call[1].weight");
        assert_eq!(KeyPath::from("server").to_string(), "[server]");
        assert_eq!(KeyPath::default().to_string(), "");
    }
}
