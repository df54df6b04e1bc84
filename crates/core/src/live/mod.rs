//! A run while it goes on, for those who watch it.
//!
//! Threads that make load share nothing. A few times a second each of them makes a [`Glimpse`] of its
//! own tally: small sums, and the seconds that have passed since its last one. Whoever watches folds
//! the glimpses of all threads into a [`View`], which tells it as a [`Snapshot`] of plain figures,
//! or as a report that is not judged yet. No call costs more because somebody watches.

mod glimpse;
mod snapshot;
mod view;

pub use glimpse::{Cursor, Glimpse, LogLine};
pub use snapshot::{LatencyFigures, Snapshot, State, ToolFigures};
pub use view::View;
