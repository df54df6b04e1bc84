//! Ever smaller cases that still show the same: of JSON, members are taken away and texts halved;
//! of bytes, ever smaller pieces.

use serde_json::Value;

/// Offers smaller cases; whoever tries one says whether it still shows.
#[derive(Debug)]
pub struct Shrinker {
    best: Vec<Vec<u8>>,
    offered: Option<Vec<Vec<u8>>>,
    way: Way,
}

#[derive(Debug)]
enum Way {
    /// A message whose parameters become fewer. `next`: which of its places is tried next.
    Json { message: Box<Value>, next: usize, offered: Option<Box<Value>> },
    /// Bytes of which a piece of this size is left out at this place.
    Bytes { size: usize, at: usize },
}

impl Shrinker {
    /// Begins with a case as it was sent.
    pub fn new(writes: Vec<Vec<u8>>) -> Self {
        let whole = writes.concat();
        let way = match serde_json::from_slice::<Value>(&whole) {
            Ok(message) if message["params"].is_object() => {
                Way::Json { message: Box::new(message), next: 0, offered: None }
            }
            _ => Way::Bytes { size: whole.len().div_ceil(2), at: 0 },
        };
        Self { best: writes, offered: None, way }
    }

    /// The smallest case so far.
    pub fn best(&self) -> &[Vec<u8>] {
        &self.best
    }

    /// The next case to try, if there is one.
    pub fn offer(&mut self) -> Option<Vec<Vec<u8>>> {
        let offer = match &mut self.way {
            Way::Json { message, next, offered } => {
                let smaller = smaller(message, *next)?;
                *next += 1;
                let bytes = smaller.to_string().into_bytes();
                *offered = Some(Box::new(smaller));
                bytes
            }
            Way::Bytes { size, at } => without(&self.best.concat(), size, at)?,
        };
        self.offered = Some(vec![offer]);
        self.offered.clone()
    }

    /// The case that was offered last still shows.
    pub fn keep(&mut self) {
        let Some(kept) = self.offered.take() else { return };
        match &mut self.way {
            Way::Json { message, next, offered } => {
                if let Some(smaller) = offered.take() {
                    *message = smaller;
                    *next = 0;
                }
            }
            // What stood after the piece has moved to its place.
            Way::Bytes { size, at } => *at = at.saturating_sub(*size),
        }
        self.best = kept;
    }
}

/// The bytes without the piece whose turn it is.
fn without(bytes: &[u8], size: &mut usize, at: &mut usize) -> Option<Vec<u8>> {
    *size = (*size).min(bytes.len());
    if *at >= bytes.len() {
        *size /= 2;
        *at = 0;
    }
    if *size == 0 || bytes.len() < 2 {
        return None;
    }
    let end = (*at + *size).min(bytes.len());
    let left = [&bytes[..*at], &bytes[end..]].concat();
    *at = end;
    Some(left)
}

/// The message with the n-th thing taken away.
fn smaller(message: &Value, number: usize) -> Option<Value> {
    let mut places = Vec::new();
    for (name, value) in message["params"].as_object()? {
        // Without these it would be another request.
        if name != "name" && name != "_meta" {
            collect(value, &format!("/params/{}", escaped(name)), &mut places);
        }
    }
    // The largest first: most goes with the first tries.
    places.sort_by_key(|(_, _, weight)| std::cmp::Reverse(*weight));
    let (path, how, _) = places.get(number)?;
    let mut smaller = message.clone();
    how.apply(&mut smaller, path);
    Some(smaller)
}

#[derive(Debug, Clone, Copy)]
enum How {
    Remove,
    /// The first half of a text or a list is left.
    Head,
    /// The second half of a text or a list is left.
    Tail,
}

impl How {
    fn apply(self, message: &mut Value, path: &str) {
        match self {
            Self::Head | Self::Tail => match message.pointer_mut(path) {
                Some(Value::String(text)) => {
                    let half = text.chars().count() / 2;
                    *text = match self {
                        Self::Head => text.chars().take(half).collect(),
                        _ => text.chars().skip(half).collect(),
                    };
                }
                Some(Value::Array(items)) => {
                    let tail = items.split_off(items.len() / 2);
                    if matches!(self, Self::Tail) {
                        *items = tail;
                    }
                }
                _ => {}
            },
            Self::Remove => {
                let Some((parent, key)) = path.rsplit_once('/') else { return };
                let key = key.replace("~1", "/").replace("~0", "~");
                match message.pointer_mut(parent) {
                    Some(Value::Object(members)) => _ = members.remove(&key),
                    Some(Value::Array(items)) => {
                        let at = key.parse().unwrap_or(usize::MAX);
                        if at < items.len() {
                            items.remove(at);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// All that can be taken away, with its size.
fn collect(value: &Value, path: &str, places: &mut Vec<(String, How, usize)>) {
    /// More places than this are not tried anyway.
    const MOST: usize = 200;
    if places.len() > MOST {
        return;
    }
    let weight = value.to_string().len();
    if path != "/params/arguments" {
        places.push((path.to_owned(), How::Remove, weight));
    }
    match value {
        Value::String(text) if text.chars().nth(1).is_some() => {
            places.push((path.to_owned(), How::Head, weight / 2));
            places.push((path.to_owned(), How::Tail, weight / 2));
        }
        Value::Array(items) => {
            if items.len() > 1 {
                places.push((path.to_owned(), How::Head, weight / 2));
                places.push((path.to_owned(), How::Tail, weight / 2));
            }
            for (index, item) in items.iter().enumerate().take(20) {
                collect(item, &format!("{path}/{index}"), places);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                collect(member, &format!("{path}/{}", escaped(name)), places);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shrunk(case: &[u8], shows: impl Fn(&[u8]) -> bool) -> (Vec<u8>, usize) {
        let mut shrinker = Shrinker::new(vec![case.to_vec()]);
        let mut tries = 0;
        while let Some(offer) = shrinker.offer() {
            tries += 1;
            assert!(tries < 10_000);
            if shows(&offer.concat()) {
                shrinker.keep();
            }
        }
        (shrinker.best().concat(), tries)
    }

    #[test]
    fn bytes_shrink_to_what_matters() {
        let mut case = vec![b'x'; 5_000];
        case[3_210] = 7;
        let (best, tries) = shrunk(&case, |bytes| bytes.contains(&7));
        assert_eq!(best, [7]);
        assert!(tries < 200, "{tries}");
        let pair = b"aaaa(bbbbbbb)cccc";
        let (best, _) = shrunk(pair, |bytes| bytes.contains(&b'(') && bytes.contains(&b')'));
        assert_eq!(best, b"()");
        assert_eq!(shrunk(b"", |_| true).0, b"");
    }

    #[test]
    fn json_keeps_its_request_and_loses_the_rest() {
        let case = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {
            "name": "t", "_meta": {"k": 1}, "arguments": {
                "a": 1, "b": {"c": [1, "bad", 2], "d": "long text"}, "e/f": null,
            },
        }});
        let bytes = case.to_string().into_bytes();
        let (best, _) = shrunk(&bytes, |bytes| String::from_utf8_lossy(bytes).contains("bad"));
        let best: Value = serde_json::from_slice(&best).unwrap();
        assert_eq!(best["params"]["arguments"], json!({"b": {"c": ["bad"]}}));
        assert_eq!((&best["params"]["name"], &best["id"]), (&json!("t"), &json!(5)));
        let (text, _) = shrunk(&bytes, |_| true);
        let text: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(text["params"]["arguments"], json!({}));
    }

    #[test]
    fn the_last_byte_is_not_taken_away() {
        assert_eq!(shrunk(b"ab", |bytes| bytes.contains(&b'b')).0, b"b");
        assert_eq!(shrunk(b"ab", |bytes| bytes.contains(&b'a')).0, b"a");
        assert_eq!(shrunk(b"a", |_| true).0, b"a");
    }

    #[test]
    fn texts_and_lists_are_halved_and_members_removed() {
        let value = json!({"t": "abcde", "l": [1, 2, 3, 4, 5], "o": {"a~/b": 1, "c": 2}, "n": 7});
        for (how, path, expected) in [
            (How::Head, "/t", json!("ab")),
            (How::Tail, "/t", json!("cde")),
            (How::Head, "/l", json!([1, 2])),
            (How::Tail, "/l", json!([3, 4, 5])),
            (How::Remove, "/l/1", json!([1, 3, 4, 5])),
            (How::Remove, "/l/4", json!([1, 2, 3, 4])),
            (How::Remove, "/l/5", json!([1, 2, 3, 4, 5])),
            (How::Remove, "/l/x", json!([1, 2, 3, 4, 5])),
            (How::Remove, "/o/a~0~1b", json!({"c": 2})),
            (How::Head, "/n", json!(7)),
            (How::Remove, "/n/0", json!(7)),
        ] {
            let mut smaller = value.clone();
            how.apply(&mut smaller, path);
            let member = path.split('/').nth(1).expect("there is one");
            assert_eq!(smaller[member], expected, "{how:?} {path}");
            let others = value.as_object().expect("it is one").keys().filter(|key| *key != member);
            others.for_each(|key| assert_eq!(smaller[key], value[key], "{how:?} {path}"));
        }
    }

    #[test]
    fn what_can_be_taken_away_is_told_with_its_size() {
        let places = |value: Value| {
            let mut places = Vec::new();
            collect(&value, "/p", &mut places);
            let told =
                |(path, how, weight): (String, How, usize)| format!("{path} {how:?} {weight}");
            places.into_iter().map(told).collect::<Vec<_>>()
        };
        for (value, expected) in [
            (json!(""), &["/p Remove 2"][..]),
            (json!("a"), &["/p Remove 3"]),
            (json!("abcd"), &["/p Remove 6", "/p Head 3", "/p Tail 3"]),
            (json!([1]), &["/p Remove 3", "/p/0 Remove 1"]),
            (
                json!([1, 23]),
                &["/p Remove 6", "/p Head 3", "/p Tail 3", "/p/0 Remove 1", "/p/1 Remove 2"],
            ),
            (json!({"a/b": 1}), &["/p Remove 9", "/p/a~1b Remove 1"]),
        ] {
            assert_eq!(places(value.clone()), expected, "{value}");
        }
        let many: serde_json::Map<_, _> = (0..300).map(|n| (n.to_string(), json!(1))).collect();
        assert_eq!(places(Value::Object(many)).len(), 201);
    }
}
