//! Notifications that nobody asked for, as many a second as a fault says.

use std::{sync::Arc, time::Duration};

use mcp_loadtest_core::{fault::FLOOD_TIME, mcp::method};
use serde_json::json;
use tokio::time::{Instant, sleep_until};

use super::session::{Out, Outbox, Session};
use crate::mcp::write;

/// A flood is sent in waves, so that high rates do not need a timer each.
const WAVES_PER_SECOND: u32 = 50;

/// Floods a stream until it closes or the session ends.
pub(super) fn begin(session: Arc<Session>, outbox: Outbox, rate: u32) {
    tokio::spawn(async move {
        tokio::select! {
            () = session.ended.cancelled() => {}
            () = outbox.closed() => {}
            () = pour(rate, None, &outbox) => {}
        }
    });
}

/// Floods the stream of one call, which is held so that it can be.
pub(super) async fn hold(outbox: &Outbox, rate: u32) {
    pour(rate, Some(FLOOD_TIME), outbox).await;
}

async fn pour(rate: u32, limit: Option<Duration>, outbox: &Outbox) {
    let begun = Instant::now();
    let mut sent: u64 = 0;
    for wave in 1_u32.. {
        let at = Duration::from_secs(1) * wave / WAVES_PER_SECOND;
        sleep_until(begun + at).await;
        while sent < u64::from(rate) * u64::from(wave) / u64::from(WAVES_PER_SECOND) {
            sent += 1;
            let params = json!({ "level": "info", "logger": "flood", "data": sent });
            let frame = write::notification(method::LOG_MESSAGE, &params);
            if outbox.send(Out::Message(frame)).await.is_err() {
                return;
            }
        }
        if limit.is_some_and(|limit| at >= limit) {
            return;
        }
    }
}
