//! Writing a text from a pattern: letters and digits wherever the pattern leaves a choice, so that
//! nothing is written that a shell or a database would take for a command.

use super::class::{Class, contains};
use super::parse::{Node, Tree};
use crate::seed::Dice;

/// Nodes visited for each byte that may be written.
const VISITS: usize = 8;

/// Writes a text, or gives up when it gets longer than `limit` bytes.
pub(super) fn write(tree: &Tree, dice: &mut Dice, grow: u32, limit: usize) -> Option<String> {
    let visits = limit.saturating_mul(VISITS).saturating_add(1000);
    let letters = vec![None; tree.classes.len()];
    let text = String::new();
    let mut writer = Writer { classes: &tree.classes, letters, dice, grow, limit, visits, text };
    writer.node(&tree.node)?;
    Some(writer.text)
}

struct Writer<'w> {
    classes: &'w [Class],
    /// What to choose from for each class, once it has been needed.
    letters: Vec<Option<Vec<char>>>,
    dice: &'w mut Dice,
    grow: u32,
    limit: usize,
    /// Bounds the work where much is repeated and nothing written.
    visits: usize,
    text: String,
}

impl Writer<'_> {
    fn node(&mut self, node: &Node) -> Option<()> {
        self.visits = self.visits.checked_sub(1)?;
        match node {
            Node::Start | Node::End => Some(()),
            Node::Class(class) => self.letter(*class),
            Node::Sequence(nodes) => nodes.iter().try_for_each(|node| self.node(node)),
            Node::Either(branches) => {
                let branch = self.dice.below(branches.len() as u64) as usize;
                self.node(&branches[branch])
            }
            Node::Repeat { node, least, most } => {
                let times = self.grow.clamp(*least, most.unwrap_or(u32::MAX));
                (0..times).try_for_each(|_| self.node(node))
            }
        }
    }

    fn letter(&mut self, class: usize) -> Option<()> {
        let letters = self.letters[class].get_or_insert_with(|| letters(&self.classes[class]));
        self.text.push(*letters.get(self.dice.below(letters.len() as u64) as usize)?);
        (self.text.len() <= self.limit).then_some(())
    }
}

/// Ranges that are looked at in turn; the first that meets the set gives the letter.
const PREFERRED: [(char, char); 4] = [('a', 'z'), ('A', 'Z'), ('0', '9'), (' ', '~')];

fn letters(class: &Class) -> Vec<char> {
    let meets = |(first, last): (char, char)| -> Vec<char> {
        (first..=last).filter(|letter| contains(class, *letter)).collect()
    };
    let plain = PREFERRED.into_iter().map(meets).find(|letters| !letters.is_empty());
    plain.unwrap_or_else(|| {
        class.iter().find_map(|(low, _)| char::from_u32(*low)).into_iter().collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_plain_where_they_can_be() {
        assert_eq!(letters(&vec![(0, 0x10ffff)]).len(), 26);
        assert_eq!(letters(&vec![(0x3b1, 0x3b9)]), ['α']);
        assert_eq!(letters(&vec![('-' as u32, '-' as u32)]), ['-']);
    }
}
