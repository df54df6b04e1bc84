//! The engine against real processes: the fixtures of `tests/fixtures` and what `make test` installs.

mod fixtures;
mod matrix;
