//! Response and service times of calls, with as few records a call as can be.
//!
//! Most calls start when they should, and then their response time is their service time. So one
//! histogram takes every call, and only a call that had to wait for its start is recorded again:
//!
//! ```text
//! service = response - response of those that waited + service of those that waited
//! ```

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::{event::Call, histogram};

/// The times of calls.
#[derive(Debug, Clone)]
pub struct Times {
    response: Histogram<u64>,
    waited: Option<Box<Waited>>,
}

#[derive(Debug, Clone)]
struct Waited {
    response: Histogram<u64>,
    service: Histogram<u64>,
}

impl Default for Waited {
    fn default() -> Self {
        Self { response: histogram::new(), service: histogram::new() }
    }
}

impl Default for Times {
    fn default() -> Self {
        Self { response: histogram::new(), waited: None }
    }
}

impl Times {
    /// Times of calls that all started when they should.
    pub(crate) fn of(response: Histogram<u64>) -> Self {
        Self { response, waited: None }
    }

    /// Books a call that ended at `at`.
    #[inline]
    pub(super) fn record(&mut self, call: &Call<'_>, at: Duration) {
        let response = at.saturating_sub(call.intended);
        histogram::record(&mut self.response, response);
        if call.started > call.intended {
            let waited = self.waited.get_or_insert_default();
            histogram::record(&mut waited.response, response);
            histogram::record(&mut waited.service, at.saturating_sub(call.started));
        }
    }

    /// Times from the intended start.
    pub fn response(&self) -> &Histogram<u64> {
        &self.response
    }

    /// Times from the true start.
    pub fn service(&self) -> Histogram<u64> {
        let mut service = self.response.clone();
        if let Some(waited) = &self.waited {
            histogram::take_away(&mut service, &waited.response);
            histogram::add(&mut service, &waited.service);
        }
        service
    }

    pub(super) fn merge(&mut self, other: &Self) {
        histogram::add(&mut self.response, &other.response);
        if let Some(theirs) = &other.waited {
            let mine = self.waited.get_or_insert_default();
            histogram::add(&mut mine.response, &theirs.response);
            histogram::add(&mut mine.service, &theirs.service);
        }
    }
}
