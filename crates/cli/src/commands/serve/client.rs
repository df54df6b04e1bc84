//! Who asked: whether they still want to know, and how they are told how far we are.

use std::sync::Arc;

use rmcp::{
    Peer, RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::RequestContext,
};
use tokio_util::sync::CancellationToken;

use super::presence::Presence;

/// How far a run has come.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    pub(crate) progress: f64,
    pub(crate) total: Option<f64>,
    pub(crate) message: String,
}

/// The client of one call.
pub(crate) struct Client {
    cancelled: CancellationToken,
    presence: Option<Arc<Presence>>,
    told: Option<(Peer<RoleServer>, ProgressToken)>,
}

impl Client {
    /// Whoever sent this request.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        Self {
            cancelled: context.ct.clone(),
            presence: Presence::of(&context.extensions),
            told: token.map(|token| (context.peer.clone(), token)),
        }
    }

    /// Waits until nobody wants the result any more: the call was withdrawn, or the client is gone.
    pub(crate) async fn left(&self) {
        let gone = async {
            match &self.presence {
                Some(presence) => presence.gone().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.cancelled.cancelled() => {}
            () = gone => {}
        }
    }

    /// Says how far we are, if that was asked for.
    pub(crate) async fn tell(&self, step: Step) {
        let Some((peer, token)) = &self.told else { return };
        let mut told =
            ProgressNotificationParam::new(token.clone(), step.progress).with_message(step.message);
        if let Some(total) = step.total {
            told = told.with_total(total);
        }
        // Whoever cannot be told has gone, and that is noticed elsewhere.
        let _ = peer.notify_progress(told).await;
    }
}
