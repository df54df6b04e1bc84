//! `metrics.json`: everything that a run measured and concluded, for machines.
//!
//! The file holds the whole [`Report`]: [`read`] rebuilds it, so that a saved run can be told again
//! and compared. Percentiles are null where there was no sample, and no number is ever NaN or
//! infinite. Readers ignore members that they do not know, so that newer files can be read.

mod convert;
mod document;
pub(crate) mod layout;
pub(super) mod numbers;

use std::io;

use schemars::schema_for;
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use self::document::Document;
use super::{Renderer, Report};
use crate::{display::visible, hint::Hint};

/// What the member `schema` of every `metrics.json` says.
pub const SCHEMA: &str = "mcp-loadtest/metrics/v1";

/// Writes `metrics.json`.
pub struct Metrics;

impl Renderer for Metrics {
    fn render(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        layout::write(&Document::from(report), out)
    }
}

/// Why a `metrics.json` could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// It is not JSON.
    #[error("the metrics are not JSON: {0}")]
    Syntax(#[source] serde_json::Error),
    /// A member is missing or of another type.
    #[error("the metrics cannot be read: {}{}", at(.0), .0.inner())]
    Member(#[source] serde_path_to_error::Error<serde_json::Error>),
    /// It is JSON, but not this version of this format.
    #[error("the metrics are {found}, not `{SCHEMA}`")]
    Format {
        /// What it says it is.
        found: String,
    },
}

/// Where in the document, unless it broke off before anything could be named.
fn at(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    match error.path().to_string().as_str() {
        "." => String::new(),
        path => format!("`{}`: ", visible(path, 80)),
    }
}

impl Hint for ReadError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Syntax(_) | Self::Member(_) => {
                "check that the file is complete; the report of a run can be made again from its trace"
            }
            Self::Format { .. } => {
                "point to a `metrics.json` of mcp-loadtest, or use the version that wrote it"
            }
        };
        Some(hint.into())
    }
}

/// Rebuilds the report that a `metrics.json` was made from.
///
/// Figures of latency are read off the histograms, so that all of them agree.
pub fn read(text: &str) -> Result<Report, ReadError> {
    #[derive(Deserialize)]
    struct Head {
        schema: Option<String>,
    }
    let head: Head = serde_json::from_str(text).map_err(ReadError::Syntax)?;
    match head.schema.as_deref() {
        Some(SCHEMA) => {
            let mut json = serde_json::Deserializer::from_str(text);
            let document: Document =
                serde_path_to_error::deserialize(&mut json).map_err(ReadError::Member)?;
            Ok(document.into())
        }
        Some(other) => Err(ReadError::Format { found: format!("`{}`", visible(other, 80)) }),
        None => Err(ReadError::Format { found: "of no named format".into() }),
    }
}

/// `schemas/metrics.v1.json`.
pub fn schema() -> Value {
    schema_for!(Document).to_value()
}
