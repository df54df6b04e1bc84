//! Notifications that nobody asked for, as many a second as a fault says.

use std::{sync::Arc, time::Duration};

use mcp_loadtest_core::{fault::FLOOD_TIME, mcp::method};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::{
    exchange::Exchange,
    session::{Out, Outbox, Session},
};
use crate::mcp::write;

/// A flood is sent in waves, so that high rates do not need a timer each.
const WAVES_PER_SECOND: u32 = 50;

/// Floods a stream until it closes or the session ends.
pub(super) fn begin(session: Arc<Session>, outbox: Outbox, rate: u32) {
    tokio::spawn(async move {
        let outbox = &outbox;
        let send = |params| async move { outbox.send(message(&params)).await.is_ok() };
        tokio::select! {
            () = session.ended.cancelled() => {}
            () = outbox.closed() => {}
            () = pour(rate, None, send) => {}
        }
    });
}

fn message(params: &Value) -> Out {
    Out::Message(write::notification(method::LOG_MESSAGE, params))
}

/// Floods the stream of one call, which is held so that it can be.
pub(super) async fn hold(exchange: &Exchange, rate: u32) {
    let send = |params| async move {
        let is_heard = !exchange.outbox().is_closed();
        if is_heard {
            exchange.notify(method::LOG_MESSAGE, &params).await;
        }
        is_heard
    };
    pour(rate, Some(FLOOD_TIME), send).await;
}

/// Sends notifications until nobody is left to read them.
async fn pour<F: Future<Output = bool>>(
    rate: u32,
    limit: Option<Duration>,
    send: impl Fn(Value) -> F,
) {
    let begun = Instant::now();
    let mut sent: u64 = 0;
    for wave in 1_u32.. {
        let at = Duration::from_secs(1) * wave / WAVES_PER_SECOND;
        sleep_until(begun + at).await;
        while sent < u64::from(rate) * u64::from(wave) / u64::from(WAVES_PER_SECOND) {
            sent += 1;
            let params = json!({ "level": "info", "logger": "flood", "data": sent });
            if !send(params).await {
                return;
            }
        }
        if limit.is_some_and(|limit| at >= limit) {
            return;
        }
    }
}
