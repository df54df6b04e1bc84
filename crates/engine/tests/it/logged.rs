//! What a run tells those who listen with `tracing`.

use std::{
    fmt::Debug,
    sync::{Arc, Mutex},
    time::Duration,
};

use mcp_loadtest::{Run, Scenario, Verdict};
use serde_json::{Map, Value};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use crate::fixtures::inline_mock;

/// Keeps what it hears.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Vec<Heard>>>);

#[derive(Debug, Clone)]
struct Heard {
    level: tracing::Level,
    fields: Map<String, Value>,
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "mcp_loadtest"
    }

    fn event(&self, event: &Event<'_>) {
        let mut heard = Heard { level: *event.metadata().level(), fields: Map::new() };
        event.record(&mut heard);
        self.0.lock().expect("nobody panicked").push(heard);
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

impl Visit for Heard {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name().to_owned(), value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.insert(field.name().to_owned(), format!("{value:?}").into());
    }
}

const SECRET: &str = "sk-logged-5d1f0c9a77e2";

#[tokio::test]
async fn whoever_listens_hears_of_hangs_and_failures_and_of_no_secret() {
    let listener = Listener::default();
    // Runs have threads of their own, so the listener is that of the whole process.
    tracing::subscriber::set_global_default(listener.clone()).expect("the only listener");

    // The first call never comes back; the second fails with what must not be told.
    let server = inline_mock(
        "import os\nfrom _common import err, serve\ncalls = []\n\
         def call(request):\n    calls.append(1)\n    \
         if len(calls) == 1: return None\n    \
         return err(request, -32000, 'no access with ' + os.environ['API_KEY'])\n\
         serve(on_call=call)\n",
    );
    let brief = Duration::from_secs(3);
    let scenario =
        Scenario::deadlock_probe().concurrent(2).hang_threshold(brief).grace_period(brief);
    let run = Run::new(server.env("API_KEY", SECRET), scenario.tool("echo"));
    let report = run.execute().await.expect("it runs");
    assert_eq!(report.verdict, Verdict::Critical, "{:#?}", report.findings);

    let heard = listener.0.lock().expect("nobody panicked").clone();
    assert!(!format!("{heard:?}").contains(SECRET), "{heard:#?}");
    let told = |level: tracing::Level, message: &str| {
        let mut alike = heard.iter().filter(|heard| heard.level == level);
        let found = alike.find(|heard| heard.fields["message"] == message);
        &found.unwrap_or_else(|| panic!("{message}: {heard:#?}")).fields
    };
    assert_eq!(told(tracing::Level::WARN, "a call hangs")["tool"], "echo");
    assert_eq!(told(tracing::Level::WARN, "a call never came back")["diagnosis"], "CallStuck");
    let failed = told(tracing::Level::DEBUG, "a call failed");
    assert_eq!(
        (&failed["category"], &failed["said"]),
        (&"ServerError".into(), &"no access with ***".into())
    );
    assert!(told(tracing::Level::INFO, "run_started")["detail"].is_string());
}
