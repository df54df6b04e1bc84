//! Regular expressions, in the common subset: read ([`parse`]), matched ([`program`]) and written
//! ([`write`]). Look-around, back references, `\b` and Unicode classes are outside it and refused.
//!
//! Matching takes time in proportion to text × pattern, whatever the pattern: `(a+)+$` is as
//! harmless as any.

mod class;
mod parse;
mod program;
mod write;

use self::parse::Tree;
use self::program::Program;
use super::budget::Meter;
use super::unusable::Why;
use crate::seed::Dice;

/// The longest pattern that is read, in bytes.
const LONGEST: usize = 4096;

/// A regular expression that can be matched and written.
#[derive(Debug)]
pub(super) struct Pattern {
    tree: Tree,
    program: Program,
}

impl Pattern {
    /// Reads a pattern, or refuses one outside the subset.
    pub(super) fn parse(source: &str, meter: &mut Meter) -> Result<Self, Why> {
        let refuse = || Why::pattern(source);
        if source.len() > LONGEST {
            return Err(refuse());
        }
        meter.steps(source.len())?;
        let tree = parse::parse(source).ok_or_else(refuse)?;
        let program = Program::new(&tree).ok_or_else(refuse)?;
        meter.steps(program.size())?;
        Ok(Self { tree, program })
    }

    /// Whether the pattern occurs in the text.
    pub(super) fn matches(&self, text: &str, meter: &mut Meter) -> Result<bool, Why> {
        self.program.matches(&self.tree.classes, text, meter)
    }

    /// A text made from the pattern, with up to `grow` repetitions where the pattern leaves that
    /// open. Whether it matches is for the caller to see: anchors are not looked at.
    pub(super) fn write(&self, dice: &mut Dice, grow: u32, limit: usize) -> Option<String> {
        write::write(&self.tree, dice, grow, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Budget;
    use crate::seed::Seed;
    use proptest::prelude::ProptestConfig;

    fn meter() -> Meter {
        Meter::new(&Budget::default())
    }

    #[test]
    fn what_is_written_matches_here_and_elsewhere() {
        let mut dice = Seed(2).dice(0);
        for source in [
            "^[a-z]+$",
            "^\\d{4}-\\d{2}-\\d{2}$",
            "^[A-Z]{2,3}\\d*$",
            "^(?:foo|bar)-[^\\s/]{3}$",
            "^#[0-9a-fA-F]{6}$",
            "^https?://.+",
            "^[\\w.+-]+@[\\w-]+\\.[a-z]{2,}$",
            "^\\S+$",
            "^(?<year>\\d{4})?x$",
            "^v?\\d+(\\.\\d+){0,2}$",
            "[.]json$",
            "^\\u0041\\x42$",
            "^[^a-z]$",
            "^.{3}$",
            "^$",
            "",
            "a|b|c",
            "^[\\]\\-^]$",
            "^\\+?[1-9]\\d{1,14}$",
            "^[a-zA-Z_$][\\w$]*$",
            "^arn:aws:[a-z0-9-]+:",
            "(a+)+$",
            "^\\W\\D\\s$",
            "^a{0}b$",
        ] {
            let pattern = Pattern::parse(source, &mut meter()).unwrap();
            let schema = serde_json::json!({ "pattern": source });
            let validator = jsonschema::validator_for(&schema).unwrap();
            for grow in 0..4 {
                let text = pattern.write(&mut dice, grow, 100).unwrap();
                assert_eq!(pattern.matches(&text, &mut meter()), Ok(true), "{source}: {text:?}");
                assert!(validator.is_valid(&serde_json::json!(text)), "{source}: {text:?}");
            }
        }
    }

    #[test]
    fn matching_follows_the_rules() {
        for (source, text, expected) in [
            ("^a|b$", "ax", true),
            ("^a|b$", "xb", true),
            ("^a|b$", "xa", false),
            ("a^b", "ab", false),
            ("^[^0-9]+$", "ab1", false),
            ("^(ab){2}$", "abab", true),
            ("^(ab){2}$", "ab", false),
            ("^a{2,}$", "aaaa", true),
            ("^a*?b$", "aab", true),
            ("^(a*)*$", "b", false),
            ("^.$", "\n", false),
            ("", "x", true),
            ("^a{1,3}$", "aaaa", false),
            ("x$", "ax", true),
            ("^[a-z-]$", "-", true),
            ("^\\t\\n\\r\\f\\v$", "\t\n\r\u{c}\u{b}", true),
            ("^\\t$", "t", false),
            ("(){1000000000}x", "x", true),
            ("^(?<a_1>b)$", "b", true),
            ("^a{1,3}$", "aaa", true),
            ("^a{1,3}$", "", false),
        ] {
            let pattern = Pattern::parse(source, &mut meter()).unwrap();
            assert_eq!(pattern.matches(text, &mut meter()), Ok(expected), "{source} in {text}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let deep = "(".repeat(1000);
        let long = "a".repeat(LONGEST + 1);
        for source in [
            "(?=a)",
            "(?!a)",
            "(?<=a)b",
            "(a)\\1",
            "\\bword\\b",
            "\\p{L}+",
            "a**",
            "(a",
            "a)",
            "[a",
            "[z-a]",
            "*a",
            "a{3,1}",
            "a{1000000000}",
            "(a{1000}){1000}",
            "\\",
            "(?i)a",
            "a{",
            "[]",
            "^*",
            "$+",
            "[\\d-z]",
            "[a-\\w]",
            "[a&&b]",
            long.as_str(),
            deep.as_str(),
        ] {
            assert!(
                matches!(Pattern::parse(source, &mut meter()), Err(Why::Pattern(_))),
                "{source}"
            );
        }
    }

    #[test]
    fn a_pattern_that_stalls_others_does_not_stall_us() {
        let pattern = Pattern::parse("^(a+)+(a*)*(()*)*$", &mut meter()).unwrap();
        assert_eq!(pattern.matches(&format!("{}b", "a".repeat(5000)), &mut meter()), Ok(false));
        assert!(pattern.write(&mut Seed(1).dice(0), 1 << 30, 1000).is_none());
    }

    proptest::proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn no_pattern_makes_us_panic(source in "[a-c()\\[\\]{}*+?|^$.\\\\0-3,-]{0,24}", seed: u64) {
            if let Ok(pattern) = Pattern::parse(&source, &mut meter()) {
                let _ = pattern.write(&mut Seed(seed).dice(0), 3, 200);
                let _ = pattern.matches("aabbc01", &mut meter());
            }
        }
    }

    #[test]
    fn groups_may_be_many_and_not_too_deep() {
        let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
        for (source, is_read) in [
            ("(a)".repeat(40), true),
            (nested(32), true),
            (nested(33), false),
            ("a".repeat(LONGEST), true),
        ] {
            assert_eq!(Pattern::parse(&source, &mut meter()).is_ok(), is_read, "{source}");
        }
    }

    #[test]
    fn a_pattern_is_paid_for_by_its_length_and_by_its_size() {
        // 100 steps: five letters to read, one instruction for each letter to match, and the end.
        for (source, expected) in [("a{94}", Ok(())), ("a{95}", Err(Why::TooMuch))] {
            let mut meter = Meter::new(&Budget { nodes: 1, ..Budget::default() });
            let read = Pattern::parse(source, &mut meter).map(|_| ());
            assert_eq!(read, expected, "{source}");
        }
    }
}
