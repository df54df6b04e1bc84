//! A connection, and how those who are not tasks use it.
//!
//! The connection lives in a thread of its own with a runtime of its own, and the rest waits for it
//! by parking. So the log may be opened and read from anywhere, from inside a runtime too, where
//! `Runtime::block_on` would panic.

use std::{
    error::Error as _,
    ops::Deref,
    pin::pin,
    sync::{Arc, mpsc},
    task::{Context, Poll, Wake, Waker},
    thread::{self, JoinHandle, Thread},
    time::Duration,
};

use tokio_postgres::{Client, Config, Error, NoTls};

use super::{super::StoreError, show};

/// How long a server may take to answer at all.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// How long it may leave what was sent to it unacknowledged. A log that hangs holds up the server.
const SILENCE_LIMIT: Duration = Duration::from_secs(30);

pub(super) struct Session {
    client: Option<Client>,
    thread: Option<JoinHandle<()>>,
}

impl Session {
    pub(super) fn connect(url: &str) -> Result<Self, StoreError> {
        let mut config: Config = url.parse().map_err(|error| failed("open", url, &error))?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_LIMIT);
        }
        config.tcp_user_timeout(SILENCE_LIMIT).application_name("mcp-loadtest");
        let (tell, told) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("audit-postgres".into())
            .spawn(move || serve(&config, &tell))
            .map_err(StoreError::Thread)?;
        let client = told.recv().map_err(|_| StoreError::Panicked)?;
        let client = client.map_err(|error| StoreError::failed("open", show(url), error))?;
        Ok(Self { client: Some(client), thread: Some(thread) })
    }
}

type Connected = Result<Client, String>;

/// Connects, hands the client out, and serves the connection until the client is dropped.
fn serve(config: &Config, tell: &mpsc::Sender<Connected>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = tell.send(Err(error.to_string()));
            return;
        }
    };
    runtime.block_on(async {
        match config.connect(NoTls).await {
            Ok((client, connection)) => {
                let _ = tell.send(Ok(client));
                // Whoever waits for an answer gets the error too.
                let _ = connection.await;
            }
            Err(error) => {
                let _ = tell.send(Err(describe(&error)));
            }
        }
    });
}

impl Deref for Session {
    type Target = Client;

    fn deref(&self) -> &Client {
        self.client.as_ref().expect("the client is taken when the session is dropped, not before")
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.client.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

pub(super) fn failed(deed: &'static str, url: &str, error: &Error) -> StoreError {
    StoreError::failed(deed, show(url), describe(error))
}

/// What the server said, or the error with what caused it; alone it is only `db error`.
fn describe(error: &Error) -> String {
    if let Some(said) = error.as_db_error() {
        return said.to_string();
    }
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Waits for a future whose wakers work from any thread.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
