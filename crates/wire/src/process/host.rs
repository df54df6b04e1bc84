//! A server that we start and that is reached by address: one process for all sessions.
//!
//! It lives in a thread of its own, because the sessions that use it live in several. Each session
//! holds a [`Lease`]; the first one starts the process and the end of the last one stops it, so
//! that a session which is closed and opened again finds a fresh server, as over pipes.
//!
//! | state   | left by                                                              |
//! |---------|----------------------------------------------------------------------|
//! | no server | `lease`: started, once nobody else listens at its address          |
//! | running | the end of the last lease (stopped), or its own end                  |
//! | ended   | `lease`: what is left of it is swept away, and it is started again   |

use std::{
    fmt, io,
    net::SocketAddr,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use tokio::{
    io::AsyncReadExt as _,
    net::TcpStream,
    process::ChildStdout,
    sync::{mpsc, oneshot},
    time::{sleep, timeout},
};

use super::{
    capture::Capture, exit::ExitInfo, launch::Launch, life::Life, server::ServerProcess,
    spawn::SpawnError, stop::Patience, stop::StopReport,
};
use crate::torture::{Deed, strike};

/// How often it is looked whether the server still runs.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);
/// How long the first look at its address may take.
const OCCUPIED_PATIENCE: Duration = Duration::from_millis(500);

/// Why there is no server.
#[derive(Debug)]
pub(crate) enum HostError {
    /// It could not be started.
    Spawn(SpawnError),
    /// Somebody else listens at its address.
    Occupied(SocketAddr),
    /// The thread that keeps it is gone.
    Gone,
}

/// Starts a server when it is needed and stops it when it is not. Cheap to clone.
#[derive(Clone)]
pub struct Host(Arc<Keeper>);

struct Keeper {
    orders: Option<mpsc::UnboundedSender<Order>>,
    thread: Option<JoinHandle<()>>,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").finish_non_exhaustive()
    }
}

/// One process, as its sessions see it.
pub(crate) struct Running {
    generation: u64,
    pub(crate) pid: u32,
    /// Shared with those that were started before it: they have the same habits.
    pub(crate) life: Arc<Life>,
    /// It has ended; how it did is told when its last words were read.
    ending: AtomicBool,
    ended: Mutex<Option<Ended>>,
    stderr: Mutex<String>,
    told: AtomicBool,
    listens: AtomicBool,
}

/// How a server ended by itself.
#[derive(Debug, Clone)]
pub(crate) struct Ended {
    pub(crate) exit: ExitInfo,
    pub(crate) stderr: String,
}

impl Running {
    /// How it ended, if it has.
    pub(crate) fn ended(&self) -> Option<Ended> {
        lock(&self.ended).clone()
    }

    /// Whether it is over with it, also while its last words are still to come.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Relaxed)
    }

    /// The end of what it said on stderr.
    pub(crate) fn stderr_tail(&self) -> String {
        lock(&self.stderr).clone()
    }

    /// Whether somebody has seen it listen.
    pub(crate) fn listens(&self) -> bool {
        self.listens.load(Ordering::Relaxed)
    }

    /// It was seen to listen.
    pub(crate) fn set_listens(&self) {
        self.listens.store(true, Ordering::Relaxed);
    }

    /// Whether its end is still to be told; from now on it is not.
    pub(crate) fn is_untold(&self) -> bool {
        !self.told.swap(true, Ordering::Relaxed)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The right to a running server. Dropping it gives it back; so does [`Lease::end`], which also
/// tells how the server was stopped.
pub(crate) struct Lease {
    host: Host,
    pub(crate) running: Arc<Running>,
    /// How the server before this one was cleared away, if this lease made that necessary.
    pub(crate) cleared: Option<StopReport>,
    given_back: bool,
}

enum Order {
    Lease(Vec<SocketAddr>, oneshot::Sender<Result<Granted, HostError>>),
    GiveBack(u64, Duration, Option<oneshot::Sender<Option<StopReport>>>),
}

type Granted = (Arc<Running>, Option<StopReport>);

impl Host {
    /// Keeps a server that is started like this. What it writes to stdout is kept in `stdout_log`.
    pub fn new(launch: Launch, stdout_log: Option<PathBuf>) -> io::Result<Self> {
        let (orders, received) = mpsc::unbounded_channel();
        strike(Deed::Spawn, "the thread of a server")?;
        let thread = std::thread::Builder::new().name("server".into()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            if let Ok(runtime) = runtime {
                runtime.block_on(Room::new(launch, stdout_log).keep(received));
            }
        })?;
        Ok(Self(Arc::new(Keeper { orders: Some(orders), thread: Some(thread) })))
    }

    /// The server, started if it does not run. `addresses` are where it will listen.
    pub(crate) async fn lease(&self, addresses: &[SocketAddr]) -> Result<Lease, HostError> {
        let (tell, told) = oneshot::channel();
        self.order(Order::Lease(addresses.to_vec(), tell));
        let (running, cleared) = told.await.unwrap_or(Err(HostError::Gone))?;
        Ok(Lease { host: self.clone(), running, cleared, given_back: false })
    }

    fn order(&self, order: Order) {
        if let Some(orders) = &self.0.orders {
            // A thread that is gone has no server any more.
            let _ = orders.send(order);
        }
    }
}

impl Drop for Keeper {
    /// Nothing outlives us: the thread kills what is left before it ends.
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Lease {
    /// Gives the server back; whoever does so last stops it, and is told how that went.
    pub(crate) async fn end(mut self, patience: Duration) -> Option<StopReport> {
        self.given_back = true;
        let (tell, told) = oneshot::channel();
        self.host.order(Order::GiveBack(self.running.generation, patience, Some(tell)));
        told.await.unwrap_or(None)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !self.given_back {
            self.host.order(Order::GiveBack(self.running.generation, Duration::ZERO, None));
        }
    }
}

/// The thread's own state.
struct Room {
    launch: Launch,
    stdout_log: Option<PathBuf>,
    generations: u64,
    life: Arc<Life>,
    tenant: Option<Tenant>,
}

/// The server that runs, or did.
struct Tenant {
    process: ServerProcess,
    running: Arc<Running>,
    leases: usize,
}

impl Room {
    fn new(launch: Launch, stdout_log: Option<PathBuf>) -> Self {
        Self { launch, stdout_log, generations: 0, life: Arc::default(), tenant: None }
    }

    /// Carries out orders until nobody is left who could give one.
    async fn keep(mut self, mut orders: mpsc::UnboundedReceiver<Order>) {
        loop {
            let order = tokio::select! {
                order = orders.recv() => order,
                () = sleep(LOOK_INTERVAL), if self.tenant.is_some() => {
                    self.look().await;
                    continue;
                }
            };
            match order {
                Some(Order::Lease(addresses, tell)) => {
                    let granted = self.grant(&addresses).await;
                    if let Err(Ok((running, _))) = tell.send(granted) {
                        self.give_back(running.generation, Duration::ZERO).await;
                    }
                }
                Some(Order::GiveBack(generation, patience, tell)) => {
                    let report = self.give_back(generation, patience).await;
                    if let Some(tell) = tell {
                        let _ = tell.send(report);
                    }
                }
                None => return,
            }
        }
    }

    /// Tells the sessions what becomes of the server.
    async fn look(&mut self) {
        let Some(tenant) = self.tenant.as_mut().filter(|it| it.running.ended().is_none()) else {
            return;
        };
        if tenant.process.exit().is_some() {
            tenant.running.ending.store(true, Ordering::Relaxed);
            let exit = tenant.process.wait().await;
            let stderr = tenant.process.stderr_tail();
            *lock(&tenant.running.stderr) = stderr.clone();
            *lock(&tenant.running.ended) = Some(Ended { exit, stderr });
        } else {
            *lock(&tenant.running.stderr) = tenant.process.stderr_tail();
        }
    }

    async fn grant(&mut self, addresses: &[SocketAddr]) -> Result<Granted, HostError> {
        self.look().await;
        let mut cleared = None;
        if self.tenant.as_ref().is_some_and(|tenant| tenant.running.ended().is_some())
            && let Some(tenant) = self.tenant.take()
        {
            cleared = Some(tenant.process.stop(Patience::NONE).await);
        }
        if self.tenant.is_none() {
            if let Some(address) = listener_at(addresses).await {
                return Err(HostError::Occupied(address));
            }
            self.tenant = Some(self.start().map_err(HostError::Spawn)?);
        }
        let Some(tenant) = &mut self.tenant else { return Err(HostError::Gone) };
        tenant.leases += 1;
        Ok((tenant.running.clone(), cleared))
    }

    fn start(&mut self) -> Result<Tenant, SpawnError> {
        let mut process = ServerProcess::spawn(&self.launch)?;
        self.generations += 1;
        if let Some(stdout) = process.take_stdout() {
            let capture = process.capture(self.stdout_log.as_deref());
            tokio::spawn(drain(stdout, capture));
        }
        let running = Running {
            generation: self.generations,
            pid: process.pid(),
            life: self.life.clone(),
            ending: AtomicBool::default(),
            ended: Mutex::default(),
            stderr: Mutex::default(),
            told: AtomicBool::new(false),
            listens: AtomicBool::new(false),
        };
        Ok(Tenant { process, running: Arc::new(running), leases: 0 })
    }

    /// Servers that listen have no reason to end with their stdin, so `SIGTERM` comes at once.
    async fn give_back(&mut self, generation: u64, patience: Duration) -> Option<StopReport> {
        let tenant = self.tenant.as_mut().filter(|it| it.running.generation == generation)?;
        tenant.leases -= 1;
        if tenant.leases > 0 {
            return None;
        }
        let tenant = self.tenant.take()?;
        let patience = if patience.is_zero() {
            Patience::NONE
        } else {
            Patience { eof: Duration::ZERO, term: patience, ..Patience::default() }
        };
        Some(tenant.process.stop(patience).await)
    }
}

/// What the server prints is kept up to a limit and never waited for.
async fn drain(mut stdout: ChildStdout, mut capture: Capture) {
    let mut chunk = vec![0; 16 << 10];
    while let Ok(length @ 1..) = stdout.read(&mut chunk).await {
        capture.take(&chunk[..length]);
    }
}

/// Whoever listens already would be tested in place of the server that cannot.
async fn listener_at(addresses: &[SocketAddr]) -> Option<SocketAddr> {
    for address in addresses {
        if let Ok(Ok(_)) = timeout(OCCUPIED_PATIENCE, TcpStream::connect(address)).await {
            return Some(*address);
        }
    }
    None
}
