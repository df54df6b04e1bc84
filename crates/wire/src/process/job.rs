//! The fence around one server on Windows: a job object. When the last handle to the job is closed,
//! by us or by the system because we died, Windows ends every process in it.
//!
//! The Unix twin is `group.rs`. A process that the server starts within the first instant, before
//! the server is put into the job, escapes: starting it suspended would take `unsafe` code.

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};
use tokio::process::{Child, Command};
use win32job::{ExtendedLimitInfo, Job, JobError};

use super::marker::{MARKER_VARIABLE, Marker};
use super::stray::{COMMAND_LINE_LIMIT, Stray};

/// A job needs no moments: it knows its processes at any time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticket;

/// Now.
pub(super) fn ticket() -> Ticket {
    Ticket
}

/// The job of one server.
pub(super) struct Fence {
    job: Result<Job, String>,
    seen: Vec<Stray>,
    killed: Vec<Stray>,
}

impl Fence {
    /// Prepares a command so that whatever it starts stays within reach.
    pub(super) fn around(command: &mut Command) -> Self {
        let outer = std::env::var_os(MARKER_VARIABLE);
        let marker = Marker::unique().value_within(outer.as_deref());
        command.env(MARKER_VARIABLE, marker);
        let mut limits = ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        Fence {
            job: Job::create_with_limit_info(&limits).map_err(trouble),
            seen: Vec::new(),
            killed: Vec::new(),
        }
    }

    /// A job has one owner, so nobody else can look after it.
    pub(super) fn twin(&self) -> Option<Self> {
        None
    }

    /// A job keeps its processes apart from others whatever their numbers are.
    pub(super) fn let_go(&mut self) {}

    /// Puts the process that was started into the job.
    pub(super) fn close_behind(&mut self, child: &Child) {
        if let (Ok(job), Some(handle)) = (&self.job, child.raw_handle())
            && let Err(error) = job.assign_process(handle as isize)
        {
            self.job = Err(trouble(error));
        }
    }

    /// The server was waited for.
    pub(super) fn leader_reaped(&mut self) {}

    /// Asks the whole group to end. `false` where a system has no way to ask.
    pub(super) fn ask_to_end(&self) -> bool {
        false
    }

    /// Ends every process in the job by closing it.
    pub(super) fn kill(&mut self) {
        self.job = Err(String::new());
    }

    /// Looks for the server's processes and says how many there are.
    pub(super) fn look(&mut self, _since: Ticket) -> usize {
        let job = self.job.as_ref().ok();
        let pids = job.and_then(|job| job.query_process_id_list().ok());
        self.seen = strays(&pids.unwrap_or_default());
        self.seen.len()
    }

    /// Kills what the last look saw.
    pub(super) fn kill_seen(&mut self) {
        self.killed.append(&mut self.seen);
        self.kill();
    }

    /// What had to be killed beside the server.
    pub(super) fn killed(&mut self) -> Vec<Stray> {
        std::mem::take(&mut self.killed)
    }

    /// What the last look saw.
    pub(super) fn survivors(&self) -> Vec<Stray> {
        self.seen.clone()
    }

    /// What weakens the fence.
    pub(super) fn warning(&self) -> Option<&str> {
        self.job.as_ref().err().map(String::as_str).filter(|text| !text.is_empty())
    }
}

fn trouble(error: JobError) -> String {
    format!("no job object ({error}); processes that the server starts may be left running")
}

fn strays(pids: &[usize]) -> Vec<Stray> {
    let pids: Vec<Pid> = pids.iter().map(|pid| Pid::from(*pid)).collect();
    let Ok(mut system) = System::new() else {
        return Vec::new();
    };
    let what = ProcessRefreshKind::nothing().with_cmd(UpdateKind::Always);
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&pids), true, what);
    let stray = |pid: &Pid| {
        let words = system.process(*pid)?.cmd().join(std::ffi::OsStr::new(" "));
        let line: String = words.to_string_lossy().chars().take(COMMAND_LINE_LIMIT).collect();
        Some(Stray { pid: pid.as_u32(), command_line: line })
    };
    pids.iter().filter_map(stray).collect()
}
