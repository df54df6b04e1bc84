//! What is shown now. Every browser is told the newest; whoever is slow misses what came between.

use std::{
    future::pending,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use mcp_loadtest::{Report, Watch};
use mcp_loadtest_core::report::{
    Renderer as _,
    html::{Html, live::Frame},
};
use tokio::{
    sync::watch::{Receiver, Sender},
    time::Instant,
};

use crate::fault_log::FaultsSoFar;

/// How often there is something new.
const REFRESH: Duration = Duration::from_secs(2);
/// Making a page may take one part in so many of the time: what it takes, the load may lack.
const SHARE: u32 = 100;

/// Something new for a browser.
#[derive(Debug, Clone, Default)]
pub(super) enum News {
    /// Nothing so far.
    #[default]
    None,
    /// The run has gone on.
    Update(Arc<str>),
    /// The run is over.
    Over,
}

/// The page, and the news for those who have it.
#[derive(Debug, Default)]
pub(super) struct Pages {
    page: Mutex<Page>,
    news: Sender<News>,
}

#[derive(Debug, Default)]
enum Page {
    #[default]
    Empty,
    Growing(Frame),
    Final(Arc<str>),
}

impl Pages {
    /// The page as it is now.
    pub(super) fn page(&self) -> Arc<str> {
        match &*self.page.lock().unwrap_or_else(PoisonError::into_inner) {
            Page::Empty => Frame::of(None, mcp_loadtest::live::State::Starting).page().into(),
            Page::Growing(frame) => frame.page().into(),
            Page::Final(page) => page.clone(),
        }
    }

    /// The news from now on.
    pub(super) fn news(&self) -> Receiver<News> {
        self.news.subscribe()
    }

    /// Looks at the run until it is over. Never returns.
    pub(super) async fn follow(&self, mut watch: Watch, mut faults: FaultsSoFar) {
        let mut wait = REFRESH / 4;
        loop {
            tokio::time::sleep(wait).await;
            let begun = Instant::now();
            let state = watch.snapshot().state;
            let mut report = watch.report();
            if let Some(report) = &mut report {
                faults.lay_over(report);
            }
            if !self.grow(Frame::of(report.as_ref(), state)) {
                return pending().await;
            }
            wait = REFRESH.max(begun.elapsed() * SHARE);
        }
    }

    /// Shows what is new; `false` when the run is over.
    fn grow(&self, frame: Frame) -> bool {
        let mut page = self.page.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*page, Page::Final(_)) {
            return false;
        }
        if self.news.receiver_count() > 0 {
            self.news.send_replace(News::Update(frame.update().into()));
        }
        *page = Page::Growing(frame);
        true
    }

    /// Shows the final report.
    pub(super) fn end(&self, report: &Report) {
        let mut html = Vec::new();
        // Writing to memory cannot fail.
        let _ = Html.render(report, &mut html);
        let html = String::from_utf8_lossy(&html).into_owned();
        *self.page.lock().unwrap_or_else(PoisonError::into_inner) = Page::Final(html.into());
        self.news.send_replace(News::Over);
    }
}
