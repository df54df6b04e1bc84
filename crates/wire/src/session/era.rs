//! Which revision does a server speak? Asked without harm.
//!
//! A first `server/discover` kills some legacy servers and others never answer it, so over stdio it
//! is asked of a process that can be thrown away. One that answers it in the modern way is kept.

use std::{rc::Rc, time::Duration};

use mcp_loadtest_core::{
    mcp::{Revision, lifecycle, method},
    outcome::Outcome,
};
use serde_json::{Value, json};
use tokio::{
    select,
    time::{Instant, timeout},
};

use super::{How, OpenError, Options, Reply, Session, Target, handshake::offered_instead};
use crate::sink::Nowhere;

/// What the question showed.
#[derive(Debug, Clone, PartialEq)]
pub struct EraProbe {
    /// The revision to speak.
    pub revision: Revision,
    /// What was seen, in words.
    pub reason: String,
}

/// How long a server may keep silent before it is also asked in the legacy way.
const SILENCE: Duration = Duration::from_secs(3);

/// So much longer it may be silent about its era, once it has answered in the legacy way, or as long as
/// that answer took: one that is slow to start works on both questions at once.
const AFTERTHOUGHT: Duration = Duration::from_secs(1);

/// Finds the revision that a server speaks.
pub async fn find_revision(target: &Target, options: &Options) -> Result<EraProbe, OpenError> {
    if let Target::Sse(_) = target {
        // The transport is older than the question.
        let reason = "HTTP+SSE belongs to the legacy era".into();
        return Ok(EraProbe { revision: Revision::NEWEST_LEGACY, reason });
    }
    let mut quiet = options.clone();
    quiet.sink = Rc::new(Nowhere);
    quiet.stderr_log = None;
    quiet.stdout_log = None;
    let session = Session::connect(target, &quiet, Revision::NEWEST_MODERN).await?;
    let probe = ask(&session, options.startup_timeout).await;
    session.discard().await;
    Ok(probe)
}

async fn ask(session: &Session, limit: Duration) -> EraProbe {
    let discover = session.prepare(method::DISCOVER, json!({}));
    let mut answer = std::pin::pin!(session.call(&discover, How::setup(limit)));
    if let Ok(reply) = timeout(SILENCE, &mut answer).await {
        return judge(&reply);
    }
    // Whoever answers `initialize` but not `server/discover` is legacy, however slowly it starts.
    let asked = Instant::now();
    let greeted = select! {
        // A slow start answers both at once; the first question decides.
        biased;
        reply = &mut answer => return judge(&reply),
        reply = session.handshake_request(limit) => reply.outcome == Outcome::Ok,
    };
    if !greeted {
        return judge(&answer.await);
    }
    let rest = asked.elapsed().max(AFTERTHOUGHT);
    timeout(rest, answer).await.map_or_else(|_| legacy(), |reply| judge(&reply))
}

fn legacy() -> EraProbe {
    let reason = "`initialize` was answered, `server/discover` was not";
    EraProbe { revision: Revision::NEWEST_LEGACY, reason: reason.into() }
}

fn judge(reply: &Reply) -> EraProbe {
    let versions = reply.json().and_then(|result| result.get("supportedVersions").cloned());
    let modern = versions.as_ref().and_then(Value::as_array).is_some_and(|versions| {
        versions
            .iter()
            .any(|version| version == lifecycle(Revision::NEWEST_MODERN).revision.as_str())
    });
    if modern {
        let revision = Revision::NEWEST_MODERN;
        return EraProbe { revision, reason: "`server/discover` lists it".into() };
    }
    if let Some(revision) = offered_instead(reply) {
        return EraProbe {
            revision,
            reason: "`server/discover` was refused and this revision offered".into(),
        };
    }
    let said = match reply.code {
        Some(code) => format!("`server/discover` was refused with {code}"),
        None if reply.outcome == Outcome::Ok => "`server/discover` lists no modern revision".into(),
        None => format!("`server/discover` failed: {}", reply.message),
    };
    EraProbe { revision: Revision::NEWEST_LEGACY, reason: said }
}
