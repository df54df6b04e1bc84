//! Answers requests by their era and method.

use std::sync::atomic::{AtomicBool, Ordering};

use mcp_loadtest_core::mcp::{Era, method};

use super::{
    Empty, legacy,
    modern::{self, Cacheable},
    refusal::Refusal,
    request::Request,
    tools, write,
};
use crate::fault::Fault;

/// The server behind every transport. It keeps no state but that of its fault.
#[derive(Debug)]
pub(crate) struct Handler {
    fault: Fault,
    wedged: AtomicBool,
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A result was written.
    Result,
    /// An error with this code was written.
    Error(i64),
    /// Nothing was written: the server is stuck and the transport must do nothing more.
    Wedged,
}

impl Handler {
    pub(crate) fn new(fault: Fault) -> Self {
        Self { fault, wedged: AtomicBool::new(false) }
    }

    /// Whether the server is stuck.
    pub(crate) fn is_wedged(&self) -> bool {
        self.wedged.load(Ordering::Relaxed)
    }

    /// Appends the reply to `out`, without a line end.
    pub(crate) fn answer(&self, request: &Request<'_>, out: &mut Vec<u8>) -> Answer {
        if self.is_wedged() {
            return Answer::Wedged;
        }
        let era = match request.era() {
            Ok(era) => era,
            Err(refusal) => return refuse(request, &refusal, out),
        };
        if self.fault == Fault::LazyInitDeadlock && request.method == method::TOOLS_CALL {
            self.wedged.store(true, Ordering::Relaxed);
            return Answer::Wedged;
        }
        match dispatch(request, era, out) {
            Ok(()) => Answer::Result,
            Err(refusal) => refuse(request, &refusal, out),
        }
    }
}

fn refuse(request: &Request<'_>, refusal: &Refusal, out: &mut Vec<u8>) -> Answer {
    write::error(out, request.id, refusal);
    Answer::Error(refusal.code)
}

fn dispatch(request: &Request<'_>, era: Era, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let Request { id, params, .. } = request;
    match (era, &*request.method) {
        (Era::Legacy, method::INITIALIZE) => {
            write::result(out, id, era, &legacy::initialize(params.protocol_version.as_deref()));
        }
        (Era::Legacy, method::PING) => write::result(out, id, era, &Empty {}),
        (Era::Legacy, method::TOOLS_LIST) => write::result(out, id, era, &tools::list()),
        (Era::Modern, method::TOOLS_LIST) => {
            write::result(out, id, era, &Cacheable::new(tools::list()));
        }
        (Era::Modern, method::DISCOVER) => {
            write::result(out, id, era, &Cacheable::new(modern::discover()));
        }
        (_, method::TOOLS_CALL) => write::result(out, id, era, &tools::call(params)?),
        (_, unknown) => return Err(Refusal::method_not_found(unknown)),
    }
    Ok(())
}

#[cfg(test)]
mod tests;
