//! The page at `/` and its events at `/events`.

use std::{
    convert::Infallible,
    io,
    net::{SocketAddr, TcpListener},
    sync::Arc,
};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::{self, Next},
    response::{
        Html, IntoResponse as _, Response, Sse,
        sse::{Event, KeepAlive},
    },
    routing::get,
};
use futures_util::stream;
use mcp_loadtest_mock::admin::{is_local_origin, is_loopback};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::pages::{News, Pages};

/// Browsers that are told news at the same time.
const MOST_READERS: usize = 32;

#[derive(Clone)]
struct Site {
    pages: Arc<Pages>,
    room: Arc<Semaphore>,
    /// Whether other machines may ask.
    remote: bool,
}

/// Serves until it fails or is dropped.
pub(super) async fn serve(
    listener: TcpListener,
    address: SocketAddr,
    pages: Arc<Pages>,
) -> io::Result<()> {
    let room = Arc::new(Semaphore::new(MOST_READERS));
    let site = Site { pages, room, remote: !address.ip().is_loopback() };
    let guard = middleware::from_fn_with_state(site.clone(), guard);
    let routes = Router::new().route("/", get(page)).route("/events", get(events));
    let router = routes.layer(guard).with_state(site);
    axum::serve(tokio::net::TcpListener::from_std(listener)?, router).await
}

async fn guard(State(site): State<Site>, request: Request, next: Next) -> Response {
    match refuse(request.headers(), site.remote) {
        Some(why) => (StatusCode::FORBIDDEN, why).into_response(),
        None => next.run(request).await,
    }
}

/// A page from elsewhere must not read the report through the browser of whoever runs it: neither
/// from its own origin, nor under a name of its own that resolves to this machine.
fn refuse(headers: &HeaderMap, remote: bool) -> Option<&'static str> {
    let local = |name, is_local: fn(&str) -> bool| {
        headers.get(name).map(|value| value.to_str().is_ok_and(is_local))
    };
    if !remote && local(header::HOST, is_loopback) != Some(true) {
        return Some("`Host` does not name this machine\n");
    }
    (!remote && local(header::ORIGIN, is_local_origin) == Some(false))
        .then_some("`Origin` is not this machine\n")
}

async fn page(State(site): State<Site>) -> Response {
    let headers =
        [(header::CACHE_CONTROL, "no-store"), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];
    (headers, Html(site.pages.page().to_string())).into_response()
}

async fn events(State(site): State<Site>) -> Response {
    let Ok(place) = site.room.clone().try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many browsers\n").into_response();
    };
    let mut news = site.pages.news();
    // Whoever comes late must still hear that it is over.
    news.mark_changed();
    let told = stream::unfold(Some((news, place)), |reader| async {
        let (mut news, place): (_, OwnedSemaphorePermit) = reader?;
        loop {
            news.changed().await.ok()?;
            let newest = news.borrow_and_update().clone();
            let event = match newest {
                News::None => continue,
                News::Update(update) => Event::default().event("update").data(update),
                News::Over => {
                    return Some((
                        Ok::<_, Infallible>(Event::default().event("over").data("over")),
                        None,
                    ));
                }
            };
            return Some((Ok(event), Some((news, place))));
        }
    });
    Sse::new(told).keep_alive(KeepAlive::default()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(lines: &[(header::HeaderName, &str)], remote: bool) -> bool {
        let headers = lines.iter().map(|(name, value)| (name.clone(), value.parse().unwrap()));
        refuse(&headers.collect(), remote).is_some()
    }

    #[test]
    fn only_this_machine_may_read() {
        let here = (header::HOST, "127.0.0.1:8080");
        assert!(!refused(std::slice::from_ref(&here), false));
        assert!(!refused(&[here.clone(), (header::ORIGIN, "http://localhost:8080")], false));
        assert!(refused(&[here, (header::ORIGIN, "https://evil.example")], false));
        assert!(refused(&[(header::HOST, "evil.example")], false));
        assert!(refused(&[], false));
        assert!(!refused(&[(header::HOST, "build.example:8080")], true));
    }
}
