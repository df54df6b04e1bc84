//! The arguments of tool calls: the same every time, or others for every call.
//!
//! | file          | what it holds                                                         |
//! |---------------|-----------------------------------------------------------------------|
//! | `recipe`      | what a person asks for; with rows and a schema it becomes a source    |
//! | `source`      | gives the arguments of one call as bytes; cannot fail any more        |
//! | `template`    | arguments with placeholders, compiled to bytes and holes              |
//! | `placeholder` | the placeholders: their names, how they are read, what they write     |
//! | `rows`        | CSV and JSONL, read strictly                                          |
//! | `objects`     | rows that are the arguments themselves, typed by the tool's schema    |
//! | `turn`        | which call it is, and the chance that belongs to it                   |
//! | `echo`        | made-up arguments that a tool may give back                           |
//! | `nonce`       | the token by which a reply shows that it belongs to its request       |
//!
//! To add a placeholder: a variant of `Hole`, how it is read and written in `placeholder.rs`, and a
//! line in [`PLACEHOLDERS`].

mod cells;
mod echo;
mod nonce;
mod objects;
mod placeholder;
mod recipe;
mod rows;
mod source;
mod template;
#[cfg(test)]
mod tests;
mod turn;

pub use self::echo::{Echo, with_nonce};
pub use self::nonce::{CROSSED, NOT_ECHOED, Nonce, Sighting, is_misdelivered};
pub use self::placeholder::PLACEHOLDERS;
pub use self::recipe::Recipe;
pub use self::rows::{FileKind, MOST_ROWS, MOST_TEXT, Rows, RowsError};
pub use self::source::{Order, Rendered, Source, SourceError};
pub(crate) use self::template::Template;
pub use self::template::TemplateError;
pub use self::turn::Turn;
