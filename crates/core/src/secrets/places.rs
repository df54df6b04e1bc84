//! Which part of an argument or of an address is secret, told by what stands around it.
//!
//! | written                            | secret                    |
//! |------------------------------------|---------------------------|
//! | `--token X`, `--token=X`           | `X`                       |
//! | `API_KEY=X`                        | `X`                       |
//! | `Authorization: Bearer X`, `Bearer X` | `X`                    |
//! | `https://user:X@host/`             | `user:X`                  |
//! | `https://host/?api_key=X&page=2`   | `X`                       |
//! | `sk-…`, `ghp_…`, `AKIA…` and such  | all of it                 |
//!
//! An argument with spaces in it may be a command line itself: its words are looked at in the same way.

use std::ops::Range;

use super::{MASK, names::names_a_secret};
use crate::llm::secret::keys_in;

/// Words that stand before a secret and are none.
const SCHEMES: &[&str] = &["basic", "bearer", "digest", "token"];

/// Arguments as they may be shown.
///
/// ```
/// use mcp_loadtest_core::secrets::masked_arguments;
///
/// let shown = masked_arguments(&["--token".into(), "abc".into(), "--port=80".into()]);
/// assert_eq!(shown, ["--token", "***", "--port=80"]);
/// ```
pub fn masked_arguments(args: &[String]) -> Vec<String> {
    let places = in_arguments(args);
    args.iter().zip(&places).map(|(arg, places)| masked(arg, places)).collect()
}

/// The number of the first argument that has a mask where a secret should be.
pub fn is_masked_argument(args: &[String]) -> Option<usize> {
    let places = in_arguments(args);
    let has_mask = |(arg, places): (&String, &Vec<Range<usize>>)| {
        arg == MASK || places.iter().any(|place| &arg[place.clone()] == MASK)
    };
    args.iter().zip(&places).position(has_mask)
}

/// An address as it may be written down: without credentials and without the values of its query.
pub fn masked_url(url: &str) -> String {
    masked(url, &in_url(url))
}

/// Whether an address has a mask where a secret should be.
pub fn is_masked_url(url: &str) -> bool {
    in_url(url).into_iter().any(|place| &url[place] == MASK)
}

/// What may be secret in an address, also in one whose scheme was forgotten.
fn in_url(url: &str) -> Vec<Range<usize>> {
    let begin = host_in(url).unwrap_or(0);
    let mut places: Vec<_> = userinfo_from(url, begin).into_iter().collect();
    places.extend(pairs_of_query(url, begin).map(|(_, value)| value));
    ordered(places)
}

/// A text that may hold an address with credentials, as it may be written down.
pub fn masked_text(text: &str) -> String {
    masked(text, &in_text(text))
}

fn masked(text: &str, places: &[Range<usize>]) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut at = 0;
    for place in places.iter().filter(|place| !place.is_empty()) {
        if place.start < at {
            continue;
        }
        shown.push_str(&text[at..place.start]);
        shown.push_str(MASK);
        at = place.end;
    }
    shown + &text[at..]
}

/// What is secret in each argument, in order.
pub(super) fn in_arguments(args: &[String]) -> Vec<Vec<Range<usize>>> {
    let mut awaited = false;
    args.iter().map(|arg| in_argument(arg, &mut awaited)).collect()
}

/// What is secret in a text that stands alone: a value of a variable, say.
pub(super) fn in_text(text: &str) -> Vec<Range<usize>> {
    let mut places: Vec<_> = userinfo(text).into_iter().collect();
    if let Some(begin) = host_in(text) {
        let named = |(name, _): &(Range<usize>, _)| names_a_secret(&text[name.clone()]);
        places.extend(pairs_of_query(text, begin).filter(named).map(|(_, value)| value));
    }
    places.extend(keys_in(text));
    ordered(places)
}

/// `awaited` says whether what comes next is a secret.
fn in_argument(arg: &str, awaited: &mut bool) -> Vec<Range<usize>> {
    let is_flag = arg.starts_with('-') && arg.len() > 1;
    if std::mem::take(awaited) && !is_flag {
        return vec![after_scheme(arg)];
    }
    let mut places = in_text(arg);
    for word in words_of(arg) {
        let text = &arg[word.clone()];
        if std::mem::take(awaited) && !text.starts_with('-') {
            if is_scheme(text) {
                *awaited = true;
            } else {
                places.push(word);
            }
            continue;
        }
        match named_value(text) {
            Some(value) if value.is_empty() || is_scheme(&text[value.clone()]) => *awaited = true,
            Some(value) => places.push(word.start + value.start..word.start + value.end),
            None => *awaited = is_scheme(text) || is_secret_flag(text),
        }
    }
    // `Bearer` at the end of an argument is no more than a word; a flag awaits the argument after it.
    *awaited &= is_flag;
    ordered(places)
}

/// What follows `--token=`, `API_KEY=` or `Authorization:` in a word.
fn named_value(word: &str) -> Option<Range<usize>> {
    let at = word.find(['=', ':'])?;
    let is_address = word[at..].starts_with("://");
    (!is_address && names_a_secret(&word[..at])).then_some(at + 1..word.len())
}

fn is_secret_flag(word: &str) -> bool {
    word.starts_with('-') && names_a_secret(word)
}

fn is_scheme(word: &str) -> bool {
    SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// All of a text but for the scheme that it begins with.
fn after_scheme(text: &str) -> Range<usize> {
    let scheme = words_of(text).next().filter(|word| is_scheme(&text[word.clone()]));
    let rest = scheme.and_then(|scheme| words_of(text).find(|word| word.start > scheme.end));
    rest.map_or(0, |rest| rest.start)..text.len()
}

/// The words of a text, without the quotes around them.
fn words_of(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    let words = text.split(|c: char| c.is_whitespace() || c == '"' || c == '\'');
    words.filter_map(move |word| {
        let begin = at;
        at += word.len();
        at += text[at..].chars().next().map_or(0, char::len_utf8);
        (!word.is_empty()).then_some(begin..begin + word.len())
    })
}

/// `user:password` in an address.
pub(super) fn userinfo(text: &str) -> Option<Range<usize>> {
    userinfo_from(text, host_in(text)?)
}

/// Where the host of an address begins, with the credentials before it.
fn host_in(text: &str) -> Option<usize> {
    text.find("://").map(|at| at + 3)
}

fn userinfo_from(text: &str, begin: usize) -> Option<Range<usize>> {
    let end = text[begin..].find(['/', '?', '#', ' ']).map_or(text.len(), |at| begin + at);
    let at = text[begin..end].rfind('@')?;
    Some(begin..begin + at)
}

/// Names and values of the query of an address.
fn pairs_of_query(url: &str, host: usize) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    let begin = url[host..].find('?').map_or(url.len(), |at| host + at + 1);
    let end = url[begin..].find(['#', ' ']).map_or(url.len(), |at| begin + at);
    let mut at = begin;
    url[begin..end].split('&').filter_map(move |pair| {
        let start = at;
        at += pair.len() + 1;
        let equals = start + pair.find('=')?;
        Some((start..equals, equals + 1..start + pair.len()))
    })
}

fn ordered(mut places: Vec<Range<usize>>) -> Vec<Range<usize>> {
    places.retain(|place| !place.is_empty());
    places.sort_unstable_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(args: &[&str]) -> String {
        let args: Vec<_> = args.iter().map(|arg| (*arg).to_owned()).collect();
        masked_arguments(&args).join("|")
    }

    #[test]
    fn arguments_are_masked_by_what_stands_around_them() {
        for (args, expected) in [
            (&["--api-key", "XYZ", "--port", "80"][..], "--api-key|***|--port|80"),
            (&["--token=XYZ", "-v"], "--token=***|-v"),
            (&["-e", "API_KEY=XYZ"], "-e|API_KEY=***"),
            (&["--header", "Authorization: Bearer XYZ"], "--header|Authorization: Bearer ***"),
            (&["--header", "Authorization:Bearer XYZ"], "--header|Authorization:Bearer ***"),
            (&["--header", "X-Api-Key:XYZ"], "--header|X-Api-Key:***"),
            (&["Bearer XYZ", "next"], "Bearer ***|next"),
            (&["--auth", "Bearer XYZ"], "--auth|Bearer ***"),
            (&["--password", "two words", "x"], "--password|***|x"),
            (&["-c", "srv --token 'XYZ' --port 1"], "-c|srv --token '***' --port 1"),
            (&["postgres://me:XYZ@h/db"], "postgres://***@h/db"),
            (&["--url=https://h/mcp?api_key=XYZ&page=2"], "--url=https://h/mcp?api_key=***&page=2"),
            (&["sk-proj-abcdefghijklmnopqrstuv"], "***"),
            (&["--token=sk-proj-abcdefghijklmnopqrstuv"], "--token=***"),
            (&["--header", "X-Api-Key: XYZ"], "--header|X-Api-Key: ***"),
            (&["-c", "srv --token=XYZ -v"], "-c|srv --token=*** -v"),
            (&["--token", "-"], "--token|***"),
        ] {
            assert_eq!(shown(args), expected);
        }
    }

    #[test]
    fn ordinary_arguments_are_shown_as_they_are() {
        for args in [
            &["-m", "my_mcp", "--port", "8080"][..],
            &["--token-file", "/run/x", "--no-auth"],
            &["--token", "--verbose"],
            &["https://h/mcp?page=2", "bearer", "of", "news"],
            &["-c", "import x; print('a: b')"],
        ] {
            assert_eq!(shown(args), args.join("|"));
        }
    }

    #[test]
    fn a_mask_is_known_again() {
        let own = |args: &[&str]| args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>();
        for args in
            [&["-x", "--token", "***"][..], &["-x", "--token=***"], &["-x", "http://***@h/"]]
        {
            assert!(is_masked_argument(&own(args)).is_some_and(|at| at > 0), "{args:?}");
        }
        assert_eq!(is_masked_argument(&own(&["a***", "src/***/b", "--token", "x"])), None);
        let url = masked_url("https://me:XYZ@h:1/mcp?k=XYZ&empty=&flag#top");
        assert_eq!(url, "https://***@h:1/mcp?k=***&empty=&flag#top");
        assert_eq!(masked_url("me:XYZ@h/mcp?k=XYZ"), "***@h/mcp?k=***");
        assert!(is_masked_url(&url) && !is_masked_url("https://h/?k=1") && !is_masked_url("x"));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn any_arguments_can_be_masked(args in proptest::collection::vec(".{0,40}", 0..5)) {
            proptest::prop_assert_eq!(masked_arguments(&args).len(), args.len());
            let _ = masked_url(&args.join("://"));
        }
    }

    #[test]
    fn every_value_of_an_address_is_masked_and_in_a_text_those_with_secret_names() {
        assert_eq!(masked_url("https://h/=?a=1&k=XYZ"), "https://h/=?a=***&k=***");
        assert_eq!(
            masked_text("see https://me:pw@h/x?page=2&token=abc now"),
            "see https://***@h/x?page=2&token=*** now"
        );
        assert_eq!(masked_text("nothing: at all"), "nothing: at all");
    }
}
