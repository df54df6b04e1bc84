//! Header lines in one piece of text: a row with ten of them costs one allocation, not twenty-one.

use serde::{
    Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::SerializeSeq as _,
};

/// Names and values of header lines, in their order. In JSON: a list of pairs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers(String);

impl Headers {
    /// None yet, with room for so many bytes.
    pub(crate) fn with_room(bytes: usize) -> Self {
        Self(String::with_capacity(bytes))
    }

    /// Appends a line. Line ends inside a value, which no honest HTTP has, become spaces.
    pub fn push(&mut self, name: &str, value: &str) {
        let start = self.0.len();
        self.0.reserve(name.len() + value.len() + 3);
        self.0.push_str(name);
        self.0.push_str(": ");
        self.0.push_str(value);
        if memchr::memchr2(b'\r', b'\n', &self.0.as_bytes()[start..]).is_some() {
            let line = self.0.split_off(start);
            self.0.push_str(&line.replace(['\r', '\n'], " "));
        }
        self.0.push('\n');
    }

    /// The lines.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.lines().map(|line| line.split_once(": ").unwrap_or((line, "")))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A line `name: value` for each, as stores keep them.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What [`Headers::as_str`] gave.
    pub(super) fn from_lines(lines: String) -> Self {
        Self(lines)
    }
}

impl Serialize for Headers {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut list = to.serialize_seq(None)?;
        for pair in self.iter() {
            list.serialize_element(&pair)?;
        }
        list.end()
    }
}

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let pairs = Vec::<(String, String)>::deserialize(from)?;
        let mut headers = Self::default();
        for (name, value) in &pairs {
            if name.contains([':', '\n', '\r']) {
                return Err(D::Error::custom(format!("`{name}` is not the name of a header")));
            }
            headers.push(name, value);
        }
        Ok(headers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_read_back() {
        let mut headers = Headers::default();
        headers.push("Accept", "a: b");
        headers.push("X-Empty", "");
        headers.push("X-Split", "a\r\nSet-Cookie: evil");
        let read: Vec<_> = headers.iter().collect();
        assert_eq!(read, [("Accept", "a: b"), ("X-Empty", ""), ("X-Split", "a  Set-Cookie: evil")]);
        let json = serde_json::to_string(&headers).unwrap();
        assert_eq!(serde_json::from_str::<Headers>(&json).unwrap(), headers);
    }
}
