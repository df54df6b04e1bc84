//! What a load is made of.

use std::{
    ops::{Range, RangeInclusive},
    time::Duration,
};

use mcp_loadtest_core::pace::{Arrival, ThinkTime};

use crate::plan::Plan;

/// Calls that arrive in one way and are chosen from one set.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// How they arrive.
    pub(crate) arrival: Arrival,
    /// Which sequences of the plan are chosen from.
    pub(crate) sequences: Range<usize>,
    /// The step of the scenario that they belong to; stages add their number.
    pub(crate) segment: u16,
    /// The pause of a caller after its turn.
    pub(crate) think_time: ThinkTime,
    /// Calls per second at most.
    pub(crate) rate_limit: Option<u32>,
}

impl Part {
    /// Any sequence of the plan.
    pub(crate) fn of_all(arrival: Arrival, plan: &Plan) -> Self {
        Self {
            arrival,
            sequences: 0..plan.sequences.len(),
            segment: 0,
            think_time: ThinkTime::default(),
            rate_limit: None,
        }
    }
}

/// Parts that go on at the same time.
#[derive(Debug, Clone)]
pub(crate) struct Act {
    pub(crate) parts: Vec<Part>,
}

impl Act {
    pub(crate) fn of(part: Part) -> Self {
        Self { parts: vec![part] }
    }

    /// The steps that its calls belong to.
    pub(crate) fn segments(&self) -> RangeInclusive<u16> {
        let first = |part: &Part| part.segment + part.arrival.segment(Duration::ZERO);
        let last = |part: &Part| part.segment + part.arrival.segment(part.arrival.length());
        self.parts.iter().map(first).min().unwrap_or(0)
            ..=self.parts.iter().map(last).max().unwrap_or(0)
    }
}
