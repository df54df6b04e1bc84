//! The way from a page to a file beside it: it still leads there when both are moved together.

use std::{
    fmt::Write as _,
    path::{Component, Path},
};

/// The address of a file as a page in the directory `from` writes it; nothing where no way leads there
/// without naming a drive. Both are absolute.
pub fn link(from: &Path, to: &Path) -> Option<String> {
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let mut steps = vec!["..".to_owned(); from.len() - shared];
    for part in &to[shared..] {
        let Component::Normal(name) = part else { return None };
        steps.push(encoded(&name.to_string_lossy()));
    }
    let are_names = from[shared..].iter().all(|part| matches!(part, Component::Normal(_)));
    (are_names && !steps.is_empty()).then(|| steps.join("/"))
}

/// A name with all that an address takes for something else, and all that HTML does, in percents.
fn encoded(name: &str) -> String {
    let mut safe = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                safe.push(char::from(byte));
            }
            _ => {
                let _ = write!(safe, "%{byte:02X}");
            }
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_leads_down_up_and_past_what_would_end_it() {
        let way = |from: &str, to: &str| link(Path::new(from), Path::new(to));
        assert_eq!(way("/a", "/a/b/c.html").unwrap(), "b/c.html");
        assert_eq!(way("/a/x/y", "/a/b c/c.html").unwrap(), "../../b%20c/c.html");
        assert_eq!(way("/a", "/a/\"><b>#?.html").unwrap(), "%22%3E%3Cb%3E%23%3F.html");
        assert_eq!(way("/a", "/a/javascript:x").unwrap(), "javascript%3Ax");
        assert_eq!(way("/a/../b", "/a/c"), None);
        assert_eq!(way("/a", "/a"), None);
    }
}
