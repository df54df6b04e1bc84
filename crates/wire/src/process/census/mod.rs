//! One look at the process table: who is there, whose child, with which marker.
//!
//! A look reads every process of the machine, so those who need one at the same time share it. Each
//! takes a [`ticket`] when it is interested and gets a [`look_since`]: any look that *began* after
//! the ticket was taken. With hundreds of servers stopping at once this makes one look of hundreds.

mod group;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod portable;
mod shared;

pub(super) use group::{Group, kill_group, whole_groups};
#[cfg(target_os = "linux")]
pub(super) use linux::{command_line, kill, now};
#[cfg(not(target_os = "linux"))]
pub(super) use portable::{command_line, kill, now};
pub(super) use shared::{Ticket, look_since, ticket};

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use portable as system;

/// One running process. Those of which only the exit code is left are not in the table.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) pid: u32,
    pub(super) parent: u32,
    pub(super) group: u32,
    /// When it started, in the system's own unit. With `pid`, this names a process for good.
    pub(super) born: u64,
    /// Its value of the marker variable; empty if it has none or we may not know.
    pub(super) markers: Vec<u8>,
}
