//! Which tests are carried out.

use std::str::FromStr;

use super::result::Family;

/// Which tests are carried out: all conditions must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// The name holds one of these, whatever their case. Empty: any name.
    pub names: Vec<String>,
    /// The test has one of these tags. Empty: any.
    pub tags: Vec<String>,
    /// The test has none of these tags.
    pub skip_tags: Vec<String>,
    /// One part of several.
    pub shard: Option<Shard>,
}

impl Selection {
    /// Whether a test is wanted, by its name, its tags and its family, which is a tag too.
    pub fn admits(&self, name: &str, tags: &[String], family: Option<Family>) -> bool {
        let name = name.to_lowercase();
        let named = |wanted: &String| name.contains(&wanted.to_lowercase());
        let has = |tag: &String| {
            tags.contains(tag) || family.is_some_and(|family| family.word() == tag.as_str())
        };
        (self.names.is_empty() || self.names.iter().any(named))
            && (self.tags.is_empty() || self.tags.iter().any(has))
            && !self.skip_tags.iter().any(has)
    }

    /// Whether a test belongs to our part, by its place among those that are wanted.
    pub fn in_shard(&self, place: usize) -> bool {
        self.shard.is_none_or(|shard| place % usize::from(shard.of) == usize::from(shard.part - 1))
    }
}

/// One part of several: `1/3` is the first of three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which one, from 1.
    part: u16,
    /// Of how many.
    of: u16,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(part, of)| {
            Some((part.trim().parse::<u16>().ok()?, of.trim().parse::<u16>().ok()?))
        });
        match parts {
            Some((part, of)) if part >= 1 && part <= of => Ok(Self { part, of }),
            _ => Err("write `i/n`, such as `1/3` for the first of three parts".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_is_in_exactly_one_part() {
        for of in 1..6_u16 {
            for place in 0..20 {
                let holds = |part: &u16| {
                    let shard = Some(format!("{part}/{of}").parse().unwrap());
                    Selection { shard, ..Selection::default() }.in_shard(place)
                };
                assert_eq!((1..=of).filter(holds).count(), 1, "{place} of {of}");
            }
        }
        for wrong in ["0/3", "4/3", "1", "a/b", "1/0", ""] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_and_tags_choose() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let tags: Vec<String> = words(&["smoke", "slow"]);
        let named = Selection { names: words(&["SEARCH"]), ..Selection::default() };
        assert!(named.admits("the search tool", &[], None) && !named.admits("echo", &[], None));
        let tagged = Selection { tags: words(&["smoke"]), ..Selection::default() };
        assert!(tagged.admits("x", &tags, None) && !tagged.admits("x", &[], None));
        let without = Selection { skip_tags: words(&["slow"]), ..tagged };
        assert!(!without.admits("x", &tags, None));
        let edges = Selection { tags: words(&["EDGE"]), ..Selection::default() };
        assert!(edges.admits("x", &[], Some(Family::Edge)) && !edges.admits("x", &tags, None));
        let others = Selection { skip_tags: words(&["EDGE"]), ..Selection::default() };
        assert!(!others.admits("x", &tags, Some(Family::Edge)) && others.admits("x", &tags, None));
    }

    #[test]
    fn all_conditions_must_hold() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let all = Selection {
            names: words(&["search", "find"]),
            tags: words(&["smoke", "fast"]),
            skip_tags: words(&["slow", "flaky"]),
            shard: None,
        };
        for (name, tags, is) in [
            ("Search", &["smoke"][..], true),
            ("find it", &["x", "fast"], true),
            ("echo", &["smoke"], false),
            ("search", &[], false),
            ("search", &["smoke", "slow"], false),
            ("echo", &["slow"], false),
        ] {
            assert_eq!(all.admits(name, &words(tags), None), is, "{name} {tags:?}");
        }
        assert!(Selection::default().admits("x", &[], None));
        let second = Selection { shard: Some("2/3".parse().unwrap()), ..Selection::default() };
        let places: Vec<_> = (0..6).filter(|place| second.in_shard(*place)).collect();
        assert_eq!(places, [1, 4]);
    }
}
