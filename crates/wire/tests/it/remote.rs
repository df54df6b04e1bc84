//! Servers that are reached by address and do not behave: scripts on sockets of our own.

mod http;
mod noise;
mod sse;
mod support;
mod websocket;
