//! Where in a document a value stands, for what is found wrong only after it was read.

use serde::{
    Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_saphyr::{Spanned, options, with_deserializer_from_str_with_options};

use crate::config::{KeyPath, Step};

/// Line and column of the value at the end of the path, both from 1. When the path ends in
/// something that was not written, the nearest thing around it is meant.
pub(super) fn place(text: &str, path: &KeyPath) -> Option<(u32, u32)> {
    let mut found = None;
    let options = options! { with_snippet: false, strict_booleans: true };
    let walk = Walk { steps: path.steps(), found: &mut found };
    // Whatever is wrong with the document was told when it was read.
    let _ = with_deserializer_from_str_with_options(text, options, |document| {
        walk.deserialize(document)
    });
    found
}

/// One way down into a document. What lies beside it is passed over.
struct Walk<'a> {
    steps: &'a [Step],
    found: &'a mut Option<(u32, u32)>,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        if self.steps.is_empty() {
            let here = <Spanned<IgnoredAny> as serde::Deserialize>::deserialize(from)?.referenced;
            let number = |at| u32::try_from(at).ok();
            *self.found = number(here.line()).zip(number(here.column()));
            return Ok(());
        }
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a document")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let wanted = self.steps.split_first();
        while let Some(Spanned { value: key, referenced, .. }) =
            map.next_key::<Spanned<String>>()?
        {
            match wanted {
                Some((Step::Key(name), rest)) if *name == key => {
                    let number = |at| u32::try_from(at).ok();
                    *self.found = number(referenced.line()).zip(number(referenced.column()));
                    match rest {
                        // A key says more than the value behind it.
                        [] => map.next_value::<IgnoredAny>().map(|_| ())?,
                        rest => {
                            map.next_value_seed(Walk { steps: rest, found: &mut *self.found })?
                        }
                    }
                }
                _ => map.next_value::<IgnoredAny>().map(|_| ())?,
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Some((Step::Index(wanted), rest)) = self.steps.split_first() else {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        };
        for _ in 0..*wanted {
            if list.next_element::<IgnoredAny>()?.is_none() {
                return Ok(());
            }
        }
        list.next_element_seed(Walk { steps: rest, found: &mut *self.found })?;
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
servers:
  api: {command: [x]}
agents:
  - name: one
  - name: two
    inject: [a,
      b]
";

    fn line(path: &str) -> Option<u32> {
        place(TEXT, &path.into()).map(|(line, _)| line)
    }

    #[test]
    fn values_are_found_where_they_stand() {
        assert_eq!(line("servers.api.command"), Some(2));
        assert_eq!(line("agents[1].name"), Some(5));
        assert_eq!(line("agents[1].inject[1]"), Some(7));
    }

    #[test]
    fn what_is_missing_is_found_at_what_is_around_it() {
        assert_eq!(line("servers.api.url"), Some(2));
        assert_eq!(line("agents[0].inject[3]"), Some(3));
        assert_eq!(line("loads"), None);
    }
}
