//! What can go wrong with a server, in one vocabulary: flags, files, the mock and the proxy share it.
//!
//! A [`Fault`] is a kind, its argument and a [`Selector`] of calls. It says, and never does: asked
//! about a call it gives a [`Treatment`], which whoever serves the call obeys. The same seed, fault
//! and ordinal give the same answer on every machine. To add a kind: see `kind`.
//!
//! ```
//! use mcp_loadtest_core::fault::{Fault, FaultPlan};
//!
//! let fault: Fault = "hang@tool=search,nth=3".parse().unwrap();
//! assert_eq!(fault.to_string(), "hang@tool=search,nth=3");
//! assert!(FaultPlan::new([fault], Default::default()).faults().count() == 1);
//! ```

mod company;
mod config;
mod drip;
mod entry;
mod error;
mod grammar;
mod kind;
mod lazy_init;
mod mangle;
mod plan;
mod reference;
mod reply;
mod selector;
mod treatment;
mod window;

pub use company::Company;
pub use config::{FaultConfig, Target, When};
pub use drip::portion;
pub use entry::{Argument, Entry, Form, Place, Values};
pub use error::{FaultError, Impossible};
pub use kind::FAULTS;
pub use lazy_init::{Entered, LAZY_INIT_TIME, LazyInit, Loading};
pub use mangle::{CURSOR_PREFIX, Step, mangle};
pub use plan::{CallView, FaultPlan, decide_at};
pub use reference::reference;
pub use selector::{SELECTORS, Selector};
pub use treatment::{
    Beside, Cut, Decision, FLOOD_TIME, HANG_CODE, HANG_LIMIT, HANG_MESSAGE, Instead, Mangle,
    REORDER_LIMIT, Treatment,
};
pub use window::{FaultWindow, Hits};

use serde::{Deserialize, Serialize};

use self::entry::Turn;
use crate::{config::TransportName, mcp::Era, seed::Seed};

/// Stands for a method at the moment when a stream for notifications opens: the handshake over
/// pipes and sockets, a GET stream, a subscription. A plan is asked about it as about a call.
pub const START: &str = "start";

/// One thing that goes wrong, and with which calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "FaultConfig", into = "FaultConfig")]
pub struct Fault {
    name: Option<String>,
    kind: &'static Entry,
    argument: Argument,
    when: Selector,
    /// What tells its chance from that of other faults.
    stream: u64,
}

impl Fault {
    fn new(kind: &'static Entry, argument: Argument, when: Selector) -> Result<Self, FaultError> {
        when.check(kind)?;
        let mut fault = Self { name: None, kind, argument, when, stream: 0 };
        fault.stream = fault.fingerprint();
        Ok(fault)
    }

    /// What it is called in a suite.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// What kind of fault it is.
    pub fn kind(&self) -> &'static Entry {
        self.kind
    }

    /// Which calls it touches.
    pub fn selector(&self) -> &Selector {
        &self.when
    }

    /// Whether it could ever happen over this transport, in this era or in either.
    pub fn check(&self, transport: TransportName, era: Option<Era>) -> Result<(), Impossible> {
        if self.kind.place.has(transport, era) {
            return Ok(());
        }
        Err(Impossible { kind: self.kind, transport, era })
    }

    /// Whether it counts this call; chance and ordinals are not looked at.
    pub fn counts(&self, call: &CallView<'_>) -> bool {
        self.kind.place.has(call.transport, Some(call.era)) && self.when.counts(self.kind, call)
    }

    /// Whether it fires at a call that it counts.
    fn fires(&self, seed: Seed, ordinal: u64) -> bool {
        if !self.when.chooses(ordinal) {
            return false;
        }
        let mut dice = Seed(seed.0 ^ self.stream).dice(ordinal);
        let chance = self.when.probability.is_none_or(|share| dice.unit() < share);
        chance && (self.kind.fires)(Turn { argument: self.argument, ordinal }, &mut dice)
    }

    /// FNV-1a of its text without the seed: the order of faults and their names change nothing.
    fn fingerprint(&self) -> u64 {
        let when = Selector { seed: None, ..self.when.clone() };
        let text = Self { when, name: None, ..self.clone() }.to_string();
        text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }
}

#[cfg(test)]
mod tests;
