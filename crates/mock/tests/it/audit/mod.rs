//! The audit log and its stores: one list of cases for all of them, and what only one can do.

mod cases;
mod cluster;
mod files;
mod postgres;
mod rows;
