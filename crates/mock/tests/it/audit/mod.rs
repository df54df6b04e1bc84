//! The audit log and its stores: one list of cases for all of them, and what only one can do.

mod cases;
pub(crate) mod cluster;
mod files;
mod postgres;
mod rows;
