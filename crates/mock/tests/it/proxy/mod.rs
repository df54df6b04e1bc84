//! The proxy between a client and a server that both hide nothing.
//!
//! | file    | what is seen                                                |
//! |---------|-------------------------------------------------------------|
//! | `stdio` | what reaches a server behind pipes                          |

mod stdio;
