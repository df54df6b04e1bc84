//! Checks of `probe`: each catches the server that was made for it and is silent on a healthy one.

mod concurrency;
