//! Matching, by walking all ways through the pattern at once (Thompson's construction, as in RE2):
//! no pattern takes more than text × program steps.

use super::class::{Class, contains};
use super::parse::{Node, Tree};
use crate::generate::budget::Meter;
use crate::generate::unusable::Why;

/// The most instructions; counted repetitions are written out.
const LARGEST: usize = 1 << 15;

#[derive(Debug, Clone, Copy)]
enum Instruction {
    /// Takes one character of this set and goes on.
    Take(usize),
    /// Goes on at both places.
    Split(usize, usize),
    Start,
    End,
    Match,
}

/// A pattern as instructions.
#[derive(Debug)]
pub(super) struct Program {
    code: Vec<Instruction>,
}

impl Program {
    /// Writes out a tree, or gives up when that would be too long.
    pub(super) fn new(tree: &Tree) -> Option<Self> {
        let mut program = Self { code: Vec::new() };
        program.node(&tree.node)?;
        program.emit(Instruction::Match)?;
        Some(program)
    }

    /// The number of instructions.
    pub(super) fn size(&self) -> usize {
        self.code.len()
    }

    fn emit(&mut self, instruction: Instruction) -> Option<usize> {
        self.code.push(instruction);
        (self.code.len() <= LARGEST).then(|| self.code.len() - 1)
    }

    fn node(&mut self, node: &Node) -> Option<()> {
        match node {
            Node::Class(class) => self.emit(Instruction::Take(*class)).map(|_| ()),
            Node::Start => self.emit(Instruction::Start).map(|_| ()),
            Node::End => self.emit(Instruction::End).map(|_| ()),
            Node::Sequence(nodes) => nodes.iter().try_for_each(|node| self.node(node)),
            Node::Either(branches) => self.either(branches),
            Node::Repeat { node, least, most } => self.repeat(node, *least, *most),
        }
    }

    fn either(&mut self, branches: &[Node]) -> Option<()> {
        let mut ends = Vec::new();
        for branch in branches {
            let split = self.emit(Instruction::Split(0, 0))?;
            self.node(branch)?;
            ends.push(self.emit(Instruction::Split(0, 0))?);
            self.code[split] = Instruction::Split(split + 1, self.code.len());
        }
        // The way past the last branch leads nowhere: an empty set matches no character.
        self.emit(Instruction::Take(usize::MAX))?;
        for end in ends {
            self.code[end] = Instruction::Split(self.code.len(), self.code.len());
        }
        Some(())
    }

    fn repeat(&mut self, node: &Node, least: u32, most: Option<u32>) -> Option<()> {
        for _ in 0..least {
            // An empty node adds no instruction; without this, counting alone could take minutes.
            let before = self.code.len();
            self.node(node)?;
            if self.code.len() == before {
                return Some(());
            }
        }
        match most {
            None => {
                let split = self.emit(Instruction::Split(0, 0))?;
                self.node(node)?;
                self.emit(Instruction::Split(split, split))?;
                self.code[split] = Instruction::Split(split + 1, self.code.len());
            }
            Some(most) => {
                let mut splits = Vec::new();
                for _ in least..most {
                    splits.push(self.emit(Instruction::Split(0, 0))?);
                    self.node(node)?;
                }
                // Each may stop, and then all have stopped: so at most two ways stay open.
                for split in splits {
                    self.code[split] = Instruction::Split(split + 1, self.code.len());
                }
            }
        }
        Some(())
    }

    /// Whether the pattern occurs anywhere in the text.
    pub(super) fn matches(
        &self,
        classes: &[Class],
        text: &str,
        meter: &mut Meter,
    ) -> Result<bool, Why> {
        let mut walk =
            Walk { program: self, length: text.len(), seen: vec![0; self.code.len()], round: 0 };
        let mut places = Vec::new();
        for (at, letter) in text.char_indices() {
            walk.round += 1;
            let mut here = Vec::new();
            places.push(0);
            if walk.enter(&mut places, at, &mut here, meter)? {
                return Ok(true);
            }
            let takes = |place: &usize| match self.code[*place] {
                Instruction::Take(class) => {
                    classes.get(class).is_some_and(|class| contains(class, letter))
                }
                _ => false,
            };
            places = here.into_iter().filter(takes).map(|place| place + 1).collect();
        }
        walk.round += 1;
        places.push(0);
        walk.enter(&mut places, text.len(), &mut Vec::new(), meter)
    }
}

/// The places in a program that are open at one position of the text.
struct Walk<'p> {
    program: &'p Program,
    length: usize,
    seen: Vec<usize>,
    round: usize,
}

impl Walk<'_> {
    /// Follows every way that takes no character; says whether one of them is a match.
    fn enter(
        &mut self,
        todo: &mut Vec<usize>,
        at: usize,
        here: &mut Vec<usize>,
        meter: &mut Meter,
    ) -> Result<bool, Why> {
        while let Some(place) = todo.pop() {
            if std::mem::replace(&mut self.seen[place], self.round) == self.round {
                continue;
            }
            meter.steps(1)?;
            match self.program.code[place] {
                Instruction::Match => return Ok(true),
                Instruction::Take(_) => here.push(place),
                Instruction::Split(one, other) => todo.extend([one, other]),
                Instruction::Start if at == 0 => todo.push(place + 1),
                Instruction::End if at == self.length => todo.push(place + 1),
                Instruction::Start | Instruction::End => {}
            }
        }
        Ok(false)
    }
}
