//! Checks of `probe`: each with a server that it must catch and a healthy one on which it is silent.

mod negative_path;
