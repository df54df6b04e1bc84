//! Checks of `probe`: each must catch a server that is bad in its way, and stay silent on one that
//! is not.

mod resources;
