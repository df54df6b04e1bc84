//! From the text of a regular expression (ECMA-262, as JSON Schema has it) to a tree.
//!
//! `None` means "outside the subset": it is never guessed what an unknown construct may mean.

use std::iter::Peekable;
use std::str::Chars;

use super::class::{Class, DIGITS, LINE_ENDS, SPACE, WORD, complement, one, range, tidy};

/// Groups within groups.
const DEEPEST: usize = 32;

/// A regular expression.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) node: Node,
    /// The character sets; nodes refer to them by position.
    pub(super) classes: Vec<Class>,
}

/// A part of a regular expression.
#[derive(Debug)]
pub(super) enum Node {
    /// One character of the set at this position.
    Class(usize),
    /// The beginning of the text.
    Start,
    /// The end of the text.
    End,
    /// One after the other.
    Sequence(Vec<Node>),
    /// One of them.
    Either(Vec<Node>),
    /// Between `least` and `most` times.
    Repeat { node: Box<Node>, least: u32, most: Option<u32> },
}

/// Reads a regular expression.
pub(super) fn parse(source: &str) -> Option<Tree> {
    let mut parser = Parser { rest: source.chars().peekable(), classes: Vec::new(), depth: 0 };
    let node = parser.either()?;
    // A closing bracket without its opening one is left over here.
    parser.rest.next().is_none().then_some(Tree { node, classes: parser.classes })
}

struct Parser<'p> {
    rest: Peekable<Chars<'p>>,
    classes: Vec<Class>,
    depth: usize,
}

impl Parser<'_> {
    fn either(&mut self) -> Option<Node> {
        let mut branches = vec![self.sequence()?];
        while self.rest.next_if_eq(&'|').is_some() {
            branches.push(self.sequence()?);
        }
        if branches.len() == 1 { branches.pop() } else { Some(Node::Either(branches)) }
    }

    fn sequence(&mut self) -> Option<Node> {
        let mut nodes = Vec::new();
        while let Some(first) = self.rest.next_if(|c| *c != '|' && *c != ')') {
            let node = self.atom(first)?;
            nodes.push(self.repeated(node)?);
        }
        Some(Node::Sequence(nodes))
    }

    fn atom(&mut self, first: char) -> Option<Node> {
        match first {
            '^' => Some(Node::Start),
            '$' => Some(Node::End),
            '(' => self.group(),
            '[' => {
                let class = self.brackets()?;
                Some(self.class(class))
            }
            '.' => Some(self.class(complement(LINE_ENDS.to_vec()))),
            '\\' => {
                let class = self.escape()?;
                Some(self.class(class))
            }
            '*' | '+' | '?' | '{' | '}' | ']' => None,
            literal => Some(self.class(one(literal))),
        }
    }

    fn class(&mut self, class: Class) -> Node {
        self.classes.push(class);
        Node::Class(self.classes.len() - 1)
    }

    fn group(&mut self) -> Option<Node> {
        if self.rest.next_if_eq(&'?').is_some() {
            match self.rest.next()? {
                ':' => {}
                '<' => self.group_name()?,
                _ => return None,
            }
        }
        self.depth += 1;
        let node = (self.depth <= DEEPEST).then(|| self.either())??;
        self.depth -= 1;
        self.rest.next_if_eq(&')').map(|_| node)
    }

    /// The name in `(?<name>…)`; look-behind begins in the same way and has no name.
    fn group_name(&mut self) -> Option<()> {
        self.rest.next_if(|c| c.is_ascii_alphabetic())?;
        while self.rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '_').is_some() {}
        self.rest.next_if_eq(&'>').map(|_| ())
    }

    fn repeated(&mut self, node: Node) -> Option<Node> {
        let (least, most) = match self.rest.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => return self.counted(node),
            _ => return Some(node),
        };
        self.rest.next();
        self.closed(node, least, most)
    }

    fn counted(&mut self, node: Node) -> Option<Node> {
        self.rest.next();
        let least = self.count()?;
        let most = match self.rest.next_if_eq(&',') {
            None => Some(least),
            Some(_) if self.rest.peek() == Some(&'}') => None,
            Some(_) => Some(self.count()?),
        };
        self.rest.next_if_eq(&'}')?;
        self.closed(node, least, most)
    }

    fn count(&mut self) -> Option<u32> {
        let mut digits = String::new();
        while let Some(digit) = self.rest.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        digits.parse().ok()
    }

    fn closed(&mut self, node: Node, least: u32, most: Option<u32>) -> Option<Node> {
        // Greedy or lazy: the same texts match.
        self.rest.next_if_eq(&'?');
        let is_doubled = matches!(self.rest.peek(), Some('*' | '+' | '?' | '{'));
        let is_anchor = matches!(node, Node::Start | Node::End);
        let is_upside_down = most.is_some_and(|most| most < least);
        let fine = !is_doubled && !is_anchor && !is_upside_down;
        fine.then(|| Node::Repeat { node: Box::new(node), least, most })
    }

    fn brackets(&mut self) -> Option<Class> {
        let is_negated = self.rest.next_if_eq(&'^').is_some();
        let mut class = Class::new();
        while self.rest.next_if_eq(&']').is_none() {
            let low = self.member()?;
            let mut ahead = self.rest.clone();
            let is_range = ahead.next() == Some('-') && ahead.next() != Some(']');
            if !is_range {
                class.extend(low);
                continue;
            }
            self.rest.next();
            let high = self.member()?;
            class.push(range(&low, &high)?);
        }
        let class = if is_negated { complement(class) } else { tidy(class) };
        (!class.is_empty()).then_some(class)
    }

    fn member(&mut self) -> Option<Class> {
        match self.rest.next()? {
            '\\' => self.escape(),
            // Set operations of newer dialects (`[a&&b]`, `[[:alpha:]]`) begin with these.
            '[' | '&' => None,
            literal => Some(one(literal)),
        }
    }

    fn escape(&mut self) -> Option<Class> {
        match self.rest.next()? {
            'd' => Some(DIGITS.to_vec()),
            'D' => Some(complement(DIGITS.to_vec())),
            'w' => Some(WORD.to_vec()),
            'W' => Some(complement(WORD.to_vec())),
            's' => Some(SPACE.to_vec()),
            'S' => Some(complement(SPACE.to_vec())),
            't' => Some(one('\t')),
            'n' => Some(one('\n')),
            'r' => Some(one('\r')),
            'f' => Some(one('\u{c}')),
            'v' => Some(one('\u{b}')),
            'x' => self.code(2),
            'u' => self.code(4),
            punctuation if punctuation.is_ascii_punctuation() => Some(one(punctuation)),
            _ => None,
        }
    }

    fn code(&mut self, digits: usize) -> Option<Class> {
        let mut code = 0;
        for _ in 0..digits {
            code = code * 16 + self.rest.next()?.to_digit(16)?;
        }
        char::from_u32(code).map(one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantifiers_are_read() {
        let tree = parse("a{2,}").unwrap();
        let Node::Sequence(nodes) = tree.node else { panic!("{:?}", tree.node) };
        assert!(matches!(nodes[0], Node::Repeat { least: 2, most: None, .. }));
    }
}
