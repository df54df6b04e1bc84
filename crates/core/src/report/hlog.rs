//! `latency.hlog`: the response times window by window, as an HdrHistogram log (V2, compressed).
//!
//! HistogramLogProcessor, HistogramLogAnalyzer and the readers of other languages take it as it is.
//! The lines without a tag are all calls; those of one tool have its name as their tag. Windows keep
//! two figures, so a percentile of the log is within 1 % of the one in `metrics.json`.

use std::{io, time::Duration};

use hdrhistogram::{
    Histogram,
    serialization::{
        V2DeflateSerializer,
        interval_log::{IntervalLogWriterBuilder, IntervalLogWriterError, Tag},
    },
};

use super::{Renderer, Report, Window, phrases::printable};

/// The longest time of an interval is shown in milliseconds, as the tools for these logs expect.
const NANOS_PER_MILLI: f64 = 1e6;
const LEGEND: &str =
    r#""StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram""#;

/// Writes `latency.hlog`.
pub struct HistogramLog;

impl Renderer for HistogramLog {
    fn render(&self, report: &Report, mut out: &mut dyn io::Write) -> io::Result<()> {
        write_head(report, out)?;
        let mut serializer = V2DeflateSerializer::new();
        let mut log = IntervalLogWriterBuilder::new()
            .with_max_value_divisor(NANOS_PER_MILLI)
            .begin_log_with(&mut out, &mut serializer)?;
        let tools = tools(report);
        for all in &report.windows {
            let (from, length) =
                (Duration::from_secs(all.from_secs), Duration::from_secs(all.secs));
            let mut write = |histogram: &Histogram<u64>, tag: Option<Tag<'_>>| {
                log.write_histogram(histogram, from, length, tag).map_err(|error| match error {
                    IntervalLogWriterError::IoError(error) => error,
                    other => io::Error::other(other.to_string()),
                })
            };
            write(&all.response_ns.to_coarse_histogram(), None)?;
            for (tag, windows) in &tools {
                let same = |window: &&Window| window.from_secs == all.from_secs;
                let calls = windows.iter().find(same).map(|window| &window.response_ns);
                if let Some(calls) = calls.filter(|calls| calls.count() > 0) {
                    write(&calls.to_coarse_histogram(), Tag::new(tag))?;
                }
            }
        }
        Ok(())
    }

    /// It holds times alone.
    fn shows_faults(&self) -> bool {
        false
    }
}

/// Both times, because readers guess when one of them is missing.
fn write_head(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let started = printable(report.started_at);
    let since = started.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let date = humantime::format_rfc3339_millis(started);
    writeln!(out, "#[Logged with mcp-loadtest: response times in nanoseconds]")?;
    writeln!(out, "#[Histogram log format version 1.3]")?;
    writeln!(out, "#[StartTime: {since:.3} (seconds since epoch), {date}]")?;
    writeln!(out, "#[BaseTime: {since:.3} (seconds since epoch)]")?;
    writeln!(out, "{LEGEND}")
}

/// The tags with their windows. All calls are those of the only tool, where there is only one.
fn tools(report: &Report) -> Vec<(String, &[Window])> {
    match report.tools.as_slice() {
        [only] => vec![(encoded(&only.name), report.windows.as_slice())],
        several => several.iter().map(|tool| (encoded(&tool.name), &*tool.windows)).collect(),
    }
}

/// A tag may hold neither commas nor white space, and the name comes from elsewhere: all but the
/// plainest characters are written as in a URL, which tells any two names apart.
fn encoded(name: &str) -> String {
    let mut tag = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'/' | b':' => {
                tag.push(char::from(byte));
            }
            other => tag.push_str(&format!("%{other:02X}")),
        }
    }
    tag
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{histogram::Buckets, report::fixture, scenario::Scenario};
    use hdrhistogram::serialization::{
        Deserializer,
        interval_log::{IntervalLogIterator, LogEntry},
    };

    /// Tag, start and distribution of every line.
    fn read(log: &[u8]) -> Vec<(Option<String>, u64, Histogram<u64>)> {
        let mut lines = Vec::new();
        for entry in IntervalLogIterator::new(log) {
            if let LogEntry::Interval(line) = entry.expect("a line of the format") {
                use base64::Engine as _;
                let bytes = base64::engine::general_purpose::STANDARD
                    .decode(line.encoded_histogram())
                    .expect("base64");
                let histogram = Deserializer::new().deserialize(&mut &bytes[..]).expect("V2");
                let tag = line.tag().map(|tag| tag.as_str().to_owned());
                lines.push((tag, line.start_timestamp().as_secs(), histogram));
            }
        }
        lines
    }

    fn rendered(report: &Report) -> Vec<u8> {
        let mut log = Vec::new();
        HistogramLog.render(report, &mut log).expect("memory takes everything");
        log
    }

    fn buckets(histogram: &Histogram<u64>) -> Buckets {
        Buckets::of(histogram)
    }

    #[test]
    fn every_window_reads_back_to_the_distribution_in_the_metrics() {
        let run = fixture::Run::of(Scenario::sustained().tool("echo"));
        let report = run.ok("echo", 900, 1_500).ok("add", 300, 47_000).ok("echo", 50, 9).report();
        assert!(report.windows.len() > 3);
        let lines = read(&rendered(&report));
        let of = |tag: Option<&str>| -> Vec<_> {
            lines.iter().filter(|line| line.0.as_deref() == tag).collect()
        };
        for (line, window) in of(None).iter().zip(&report.windows) {
            assert_eq!((line.1, buckets(&line.2)), (window.from_secs, window.response_ns.clone()));
            assert_eq!(
                window.response_ns.quantile(0.99).unwrap_or_default().as_nanos() as u64,
                line.2.value_at_quantile(0.99)
            );
        }
        assert_eq!(of(None).len(), report.windows.len());
        let sum = |tag| of(tag).iter().map(|line| line.2.len()).sum::<u64>();
        assert_eq!(sum(None), report.latency.count);
        for tool in &report.tools {
            assert_eq!(sum(Some(&tool.name)), tool.latency.count, "{}", tool.name);
        }
    }

    #[test]
    fn the_only_tool_has_the_lines_of_all_calls() {
        let run = fixture::Run::of(Scenario::sustained().tool("echo"));
        let lines = read(&rendered(&run.ok("echo", 20, 1_500).report()));
        assert_eq!(lines.len(), 2);
        assert_eq!((lines[0].0.as_deref(), lines[1].0.as_deref()), (None, Some("echo")));
        assert_eq!(lines[0].2, lines[1].2);
    }

    #[test]
    fn seconds_without_a_call_have_no_line_of_a_tool() {
        let run = fixture::Run::of(Scenario::sustained().tool("echo"));
        let report = run.ok("echo", 20, 1_500).later(3).ok("echo", 20, 1_500).report();
        let lines = read(&rendered(&report));
        let starts = |tag: Option<&str>| -> Vec<u64> {
            lines.iter().filter(|line| line.0.as_deref() == tag).map(|line| line.1).collect()
        };
        assert_eq!(starts(None), [0, 1, 2, 3]);
        assert_eq!(starts(Some("echo")), [0, 3]);
    }

    #[test]
    fn faults_are_told_by_all_forms_but_the_log() {
        for entry in crate::report::RENDERERS {
            assert_eq!(entry.renderer.shows_faults(), entry.name != "hlog", "{}", entry.name);
        }
    }

    #[test]
    fn names_that_would_break_a_line_are_encoded() {
        assert_eq!(encoded("tools/call"), "tools/call");
        assert_eq!(encoded("a,b c\nTag=é%"), "a%2Cb%20c%0ATag%3D%C3%A9%25");
        let report = fixture::hostile();
        let log = rendered(&report);
        assert!(log.is_ascii() && !read(&log).is_empty());
    }

    #[test]
    fn a_run_without_calls_has_a_head_and_no_line() {
        let log = rendered(&fixture::Run::of(Scenario::sustained().tool("echo")).report());
        let text = String::from_utf8(log).unwrap();
        assert!(text.contains("#[StartTime: 1778398200.000 (seconds since epoch), 2026-05-10T"));
        assert!(text.contains("#[BaseTime: 1778398200.000") && text.contains(LEGEND), "{text}");
        assert!(read(text.as_bytes()).is_empty());
    }
}
