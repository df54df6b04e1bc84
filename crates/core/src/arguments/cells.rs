//! Many short texts in one piece of memory.

/// Texts one behind the other: a million rows must not be a million allocations.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Cells {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Cells {
    /// Appends a text that `write` writes.
    pub(super) fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// Appends a text.
    pub(super) fn push(&mut self, text: &[u8]) {
        self.push_with(|bytes| bytes.extend_from_slice(text));
    }

    /// The text at this place.
    pub(super) fn get(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[index]]
    }

    /// How many texts there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// What all of them take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Gives back what was reserved in vain.
    pub(super) fn shrunk(mut self) -> Self {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
        self
    }
}

/// Nobody wants to read all of it.
impl std::fmt::Debug for Cells {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cells({} texts, {} bytes)", self.len(), self.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_out_as_they_went_in() {
        let mut cells = Cells::default();
        for text in ["", "a", "", "bcd"] {
            cells.push(text.as_bytes());
        }
        let out: Vec<&[u8]> = (0..cells.len()).map(|index| cells.get(index)).collect();
        assert_eq!(out, [b"" as &[u8], b"a", b"", b"bcd"]);
        assert_eq!(format!("{:?}", cells.shrunk()), "Cells(4 texts, 4 bytes)");
    }
}
