//! `audit export`: rows for other programs.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use mcp_loadtest_core::{display, exit::Exit, report::figures::counted};
use mcp_loadtest_mock::audit::{Filter, Row, Source};
use serde_json::Value;

use super::{
    selection::Selection,
    text::{self, MEMBERS},
};
use crate::{env::Env, error::CliError};

/// Arguments of `audit export`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-loadtest audit audit.db export --format jsonl --output calls.jsonl
  mcp-loadtest audit audit.db export --format csv --tool search > search.csv")]
pub(super) struct ExportArgs {
    #[command(flatten)]
    selection: Selection,
    /// What is written.
    #[arg(long, value_enum, default_value = "jsonl")]
    format: Format,
    /// Write to this file, replacing it, instead of stdout.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A JSON object a line: a log that `audit` reads.
    Jsonl,
    /// A line of heads and a line a row. Header lines and events are JSON; control characters are escaped.
    Csv,
}

pub(super) fn run(
    args: &ExportArgs,
    log: &mut dyn Source,
    env: &mut Env,
) -> Result<Exit, CliError> {
    let filter = args.selection.filter();
    match &args.output {
        None => {
            write(args.format, &filter, log, &mut BufWriter::new(Stdout(env)))?;
        }
        Some(file) => {
            let path = env.path(file);
            let rows = write_file(args.format, &filter, log, &path)?;
            env.err(&format!("{} written to {}\n", counted(rows, "row"), path.display()));
        }
    }
    Ok(Exit::Pass)
}

/// Writes beside the file and puts it in its place when it is whole: the log that is read may be the
/// file that is replaced.
fn write_file(
    format: Format,
    filter: &Filter,
    log: &mut dyn Source,
    path: &Path,
) -> Result<u64, CliError> {
    let failed = |source: io::Error| CliError::Write { path: path.to_owned(), source };
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let mut file = BufWriter::new(File::create(&beside).map_err(failed)?);
    let rows = write(format, filter, log, &mut file).map_err(|error| match error {
        CliError::System(source) => failed(source),
        other => other,
    });
    let written = rows.and_then(|rows| {
        file.flush().and_then(|()| std::fs::rename(&beside, path)).map_err(failed)?;
        Ok(rows)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}

/// Writes all rows; tells how many there were.
fn write(
    format: Format,
    filter: &Filter,
    log: &mut dyn Source,
    to: &mut dyn Write,
) -> Result<u64, CliError> {
    let (mut rows, mut failed) = (0, None);
    if format == Format::Csv {
        to.write_all(&record(MEMBERS.map(str::to_owned)))?;
    }
    log.each(filter, &mut |row| {
        let bytes = match format {
            Format::Jsonl => text::line(&row).into_bytes(),
            Format::Csv => csv_line(&row),
        };
        rows += 1;
        match to.write_all(&bytes) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    match failed {
        // The reader went away, which is no failure of ours.
        Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(to.flush().map(|()| rows)?),
    }
}

fn csv_line(row: &Row) -> Vec<u8> {
    let members = serde_json::to_value(row).unwrap_or_default();
    record(MEMBERS.map(|name| match &members[name] {
        Value::Null => String::new(),
        Value::String(text) => plain(text),
        other => display::json(&other.to_string()),
    }))
}

/// A table must not be able to command the terminal or the spreadsheet that shows it: what would be
/// a formula there has a `'` before it, which makes it text.
fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    if text.trim_start().starts_with(['=', '+', '-', '@']) || text.starts_with('\t') {
        safe.push('\'');
    }
    for c in text.chars() {
        match c {
            '\n' | '\t' => safe.push(c),
            c if c.is_control() => safe.extend(c.escape_unicode()),
            c => safe.push(c),
        }
    }
    safe
}

fn record(cells: [String; MEMBERS.len()]) -> Vec<u8> {
    let mut line = csv::Writer::from_writer(Vec::new());
    line.write_record(cells).expect("a list takes any bytes");
    line.into_inner().expect("a list takes any bytes")
}

/// Data on stdout, by the door that everything goes through. A buffer before it takes or leaves whole
/// rows, so no character is cut in two.
struct Stdout<'a>(&'a mut Env);

impl Write for Stdout<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.out(&String::from_utf8_lossy(bytes));
        if self.0.is_unread() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_of_a_row_has_a_column() {
        let mut row = Row { era: Some(mcp_loadtest_core::mcp::Era::Legacy), ..Row::default() };
        row.headers.push("a", "b");
        row.push_event(1, "m");
        let members = serde_json::to_value(&row).unwrap();
        for name in members.as_object().unwrap().keys() {
            assert!(MEMBERS.contains(&name.as_str()), "{name}");
        }
    }

    #[test]
    fn cells_are_quoted_and_cannot_command_a_terminal() {
        let row = Row { note: Some("a,\"b\"\n\x1b[2J\u{9b}".into()), ..Row::default() };
        let line = String::from_utf8(csv_line(&row)).unwrap();
        assert!(line.ends_with(",\"a,\"\"b\"\"\n\\u{1b}[2J\\u{9b}\"\n"), "{line}");
    }

    #[test]
    fn no_cell_is_a_formula() {
        for text in ["=HYPERLINK(1)", "+1", "-1", "@SUM(1)", "\t=1", " =1"] {
            assert_eq!(plain(text), format!("'{text}"));
        }
        assert_eq!(plain("a=b"), "a=b");
    }
}
