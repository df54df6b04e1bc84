//! Sleeping exactly. Tokio's timer is a millisecond coarse: at ten thousand calls a second that is
//! ten calls late. Linux has a better one; elsewhere the lag is measured and told.

use std::{io, time::Duration};

/// Sleeps for times shorter than a millisecond.
#[derive(Debug)]
pub struct Timer {
    #[cfg(target_os = "linux")]
    descriptor: tokio::io::unix::AsyncFd<std::os::fd::OwnedFd>,
}

#[cfg(target_os = "linux")]
impl Timer {
    /// A timer of this thread's runtime.
    #[expect(deprecated, reason = "an OwnedFd keeps its descriptor open, which is all it asks for")]
    pub fn new() -> io::Result<Self> {
        use rustix::time::{TimerfdClockId, TimerfdFlags, timerfd_create};
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let descriptor = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Self { descriptor: tokio::io::unix::AsyncFd::new(descriptor)? })
    }

    /// Sleeps for this long.
    pub async fn sleep(&self, time: Duration) -> io::Result<()> {
        use rustix::time::{Itimerspec, TimerfdTimerFlags, Timespec, timerfd_settime};
        // A timer that is set to nothing is switched off.
        let time = time.max(Duration::from_nanos(1));
        let once = Itimerspec {
            it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: Timespec::try_from(time).map_err(io::Error::other)?,
        };
        timerfd_settime(&self.descriptor, TimerfdTimerFlags::empty(), &once)?;
        let mut expirations = [0_u8; 8];
        loop {
            let mut ready = self.descriptor.readable().await?;
            match ready.try_io(|timer| Ok(rustix::io::read(timer, &mut expirations)?)) {
                Ok(read) => return read.map(|_| ()),
                Err(_would_block) => {}
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Timer {
    /// A timer of this thread's runtime.
    pub fn new() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Sleeps for this long, to the millisecond.
    pub async fn sleep(&self, time: Duration) -> io::Result<()> {
        tokio::time::sleep(time).await;
        Ok(())
    }
}
