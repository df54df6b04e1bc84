//! How our JSON files look: members on lines of their own, the objects of a list one a line, and
//! lists of numbers in one. A run thus reads well and compares well line by line.
//!
//! Text is escaped further than JSON asks for: what could deceive a reader who prints the file in a
//! terminal is written as `\u` escapes, which read back to the same text.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use crate::display::is_deceptive;

/// Writes a value and the end of the last line.
pub(crate) fn write(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut *out, Layout::default()))?;
    out.write_all(b"\n")
}

/// Where in the document we are.
#[derive(Default)]
struct Layout {
    /// Objects around us, outside of any list.
    depth: usize,
    /// Lists around us.
    lists: usize,
    /// Objects around us, inside of a list.
    inner: usize,
    /// Whether the outermost list holds objects.
    holds_objects: bool,
    /// Whether the object that ends has had members.
    has_members: bool,
}

impl Layout {
    fn new_line<W: ?Sized + Write>(writer: &mut W, depth: usize) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..depth).try_for_each(|_| writer.write_all(b"  "))
    }
}

impl Formatter for Layout {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.holds_objects &= self.lists > 0;
        self.lists += 1;
        writer.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.lists -= 1;
        if self.lists == 0 && self.holds_objects {
            Self::new_line(writer, self.depth)?;
        }
        writer.write_all(b"]")
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.lists == 0 {
            self.depth += 1;
        } else {
            if self.lists == 1 && self.inner == 0 {
                self.holds_objects = true;
                Self::new_line(writer, self.depth + 1)?;
            }
            self.inner += 1;
        }
        self.has_members = false;
        writer.write_all(b"{")
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        match (first, self.lists) {
            (true, 0) => Self::new_line(writer, self.depth),
            (true, _) => Ok(()),
            (false, 0) => writer.write_all(b",").and_then(|()| Self::new_line(writer, self.depth)),
            (false, _) => writer.write_all(b", "),
        }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_members = true;
        Ok(())
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.lists > 0 {
            self.inner -= 1;
        } else {
            self.depth -= 1;
            if self.has_members {
                Self::new_line(writer, self.depth)?;
            }
        }
        writer.write_all(b"}")
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        text: &str,
    ) -> io::Result<()> {
        let mut rest = text;
        while let Some(at) = rest.find(|c| c == '\x7f' || is_deceptive(c)) {
            writer.write_all(&rest.as_bytes()[..at])?;
            let mut chars = rest[at..].chars();
            for unit in chars.next().iter().flat_map(|c| c.encode_utf16(&mut [0; 2]).to_vec()) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = chars.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn text(value: &Value) -> String {
        let mut bytes = Vec::new();
        write(value, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn objects_of_a_list_have_a_line_each() {
        let value = json!({"a": {}, "b": [[1, 2], [3, 4]], "c": [{"d": [{"e": 1}], "f": {}}, {}], "g": [], "h": {"i": [{}]}, "j": [[{"k": 1}], [{}]]});
        insta::assert_snapshot!(text(&value), @r#"
        {
          "a": {},
          "b": [[1,2],[3,4]],
          "c": [
            {"d": [{"e": 1}], "f": {}},
            {}
          ],
          "g": [],
          "h": {
            "i": [
              {}
            ]
          },
          "j": [[{"k": 1}],[{}]]
        }
        "#);
        assert_eq!(serde_json::from_str::<Value>(&text(&value)).unwrap(), value);
    }

    #[test]
    fn deceptive_characters_are_escaped_and_read_back() {
        let value = json!({"x\u{202e}": "a\u{9b}b\x7f\u{e0041}é\u{1b}"});
        let text = text(&value);
        assert!(text.contains("a\\u009bb\\u007f\\udb40\\udc41é\\u001b"), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
