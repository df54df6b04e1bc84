//! All cases. To add one: a line in its part, in the order of its number, and its test.

mod frames;
mod ours;
mod processes;
mod rest;
mod shown;

use self::{frames::FRAMES, ours::OURS, processes::PROCESSES, rest::REST, shown::SHOWN};
use super::proof::{Case, Proof};

const fn case(id: &'static str, tried: &'static str, must: &'static str, proof: Proof) -> Case {
    Case { id, tried, must, proof }
}

/// The parts of the list.
pub(super) const PARTS: &[(&str, &[Case])] = &[
    ("What a server sends", FRAMES),
    ("What a server does to processes", PROCESSES),
    ("What reaches a terminal, a report or a CI server", SHOWN),
    ("What is tried on the servers that we run", OURS),
    ("Files, several machines, and measuring", REST),
];
