//! A report as a document, and a document as a report.

use std::{collections::BTreeMap, time::Duration};

use super::{
    SCHEMA,
    document::{
        Document, Errors, Figures, Histograms, Process, ScenarioSettings, SegmentFigures, Step,
        Throughput, Tool, ValidityFigures,
    },
    numbers::{Millis, Seconds, Timestamp, finite},
};
use crate::{
    event::ProcessSample,
    histogram::Buckets,
    outcome::ErrorCategory,
    report::model::{
        ErrorStats, LatencyStats, ProcessStats, Report, SegmentStats, ServerInfo, StepStats,
        ThroughputStats, ToolStats, Validity,
    },
    scenario::ScenarioKind,
};

impl From<&Report> for Document {
    fn from(report: &Report) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            run_id: report.run_id.clone(),
            started_at: Timestamp(report.started_at),
            duration_secs: Seconds(report.duration),
            scenario: (&report.scenario_kind).into(),
            latency_ms: (&report.latency).into(),
            throughput: (&report.throughput).into(),
            errors: (&report.errors).into(),
            process: (&report.process).into(),
            deadlock_count: report.deadlock_count,
            hang_count: report.hang_count,
            thresholds: report.thresholds.clone(),
            threshold_violations: report.threshold_violations.clone(),
            passed: report.passed(),
            verdict: report.verdict,
            findings: report.findings.clone(),
            interrupted: report.interrupted,
            pauses: report.pauses.clone(),
            // Told once, with the rest of the coverage.
            server: ServerInfo { keywords: None, ..report.server_info.clone() },
            seed: report.seed,
            dropped: report.dropped,
            hung_for_ms: report.hung_for.iter().copied().map(Millis).collect(),
            service_ms: (&report.service).into(),
            tools: report.tools.iter().map(Tool::from).collect(),
            steps: report.steps.iter().map(Step::from).collect(),
            trace_path: report.trace_path.to_string_lossy().into_owned(),
            run_dir: report.run_dir.as_ref().map(|dir| dir.to_string_lossy().into_owned()),
            calls: report.calls.clone(),
            trace_events: report.trace_events,
            trace: report.trace,
            timeline: report
                .throughput
                .timeline
                .iter()
                .map(|(at, done)| (Seconds(*at), *done))
                .collect(),
            seconds: report.throughput.seconds.clone(),
            segments: report.segments.iter().map(SegmentFigures::from).collect(),
            windows: report.windows.clone(),
            validity: (&report.validity).into(),
            grades: report.grades,
            coverage: report.coverage.clone(),
            fuzz: report.fuzz.clone(),
            tags: report.tags.clone(),
            burst: report.burst.clone(),
            faults: report.faults.clone(),
            histograms_ns: Histograms {
                latency: report.latency.histogram.clone(),
                service: report.service.histogram.clone(),
            },
        }
    }
}

impl From<Document> for Report {
    fn from(document: Document) -> Self {
        Self {
            run_id: document.run_id,
            started_at: document.started_at.0,
            duration: document.duration_secs.0,
            scenario_kind: document.scenario.settings,
            server_info: ServerInfo {
                keywords: document.coverage.keywords.clone(),
                ..document.server
            },
            latency: LatencyStats::from_histogram(document.histograms_ns.latency),
            service: LatencyStats::from_histogram(document.histograms_ns.service),
            throughput: ThroughputStats {
                total_requests: document.throughput.total_requests,
                successful_requests: document.throughput.successful_requests,
                requests_per_sec: document.throughput.requests_per_sec,
                timeline: document.timeline.into_iter().map(|(at, done)| (at.0, done)).collect(),
                seconds: document.seconds,
            },
            errors: document.errors.into(),
            process: document.process.into(),
            tools: document.tools.into_iter().map(ToolStats::from).collect(),
            steps: document.steps.into_iter().map(StepStats::from).collect(),
            segments: document.segments.into_iter().map(SegmentStats::from).collect(),
            windows: document.windows,
            validity: document.validity.into(),
            grades: document.grades,
            coverage: document.coverage,
            fuzz: document.fuzz,
            deadlock_count: document.deadlock_count,
            hang_count: document.hang_count,
            hung_for: document.hung_for_ms.into_iter().map(|time| time.0).collect(),
            dropped: document.dropped,
            trace_path: document.trace_path.into(),
            run_dir: document.run_dir.map(Into::into),
            calls: document.calls,
            trace_events: document.trace_events,
            trace: document.trace,
            thresholds: document.thresholds,
            threshold_violations: document.threshold_violations,
            findings: document.findings,
            verdict: document.verdict,
            interrupted: document.interrupted,
            pauses: document.pauses,
            seed: document.seed,
            tags: document.tags,
            burst: document.burst,
            faults: document.faults,
            baseline: None,
        }
    }
}

impl From<&ScenarioKind> for ScenarioSettings {
    fn from(kind: &ScenarioKind) -> Self {
        Self {
            kind: kind.name().label().to_owned(),
            concurrent: kind.concurrent(),
            duration_secs: kind.settings().length().map(Seconds),
            settings: kind.clone(),
        }
    }
}

impl From<&SegmentStats> for SegmentFigures {
    fn from(stats: &SegmentStats) -> Self {
        Self {
            label: stats.label.clone(),
            load: stats.load,
            total_requests: stats.total_requests,
            successful_requests: stats.successful_requests,
            errors: stats.errors,
            dropped: stats.dropped,
            requests_per_sec: finite(stats.requests_per_sec),
            latency_ms: (&stats.latency).into(),
            histogram_ns: stats.latency.histogram.clone(),
        }
    }
}

impl From<SegmentFigures> for SegmentStats {
    fn from(figures: SegmentFigures) -> Self {
        Self {
            label: figures.label,
            load: figures.load,
            total_requests: figures.total_requests,
            successful_requests: figures.successful_requests,
            errors: figures.errors,
            dropped: figures.dropped,
            requests_per_sec: figures.requests_per_sec,
            latency: LatencyStats::from_histogram(figures.histogram_ns),
        }
    }
}

impl From<&Validity> for ValidityFigures {
    fn from(validity: &Validity) -> Self {
        Self {
            client_bound: validity.client_bound,
            reasons: validity.reasons.clone(),
            asked_per_sec: validity.asked_per_sec.map(finite),
            offered_per_sec: validity.offered_per_sec.map(finite),
            lag_ms: (&validity.lag).into(),
            lag_ns: Buckets::of(&validity.lag.histogram),
            busiest_thread: validity.busiest_thread.map(finite),
            starved_thread: validity.starved_thread.map(finite),
            cpu_us_per_call: validity.cpu_us_per_call.map(finite),
        }
    }
}

impl From<ValidityFigures> for Validity {
    fn from(figures: ValidityFigures) -> Self {
        Self {
            client_bound: figures.client_bound,
            reasons: figures.reasons,
            asked_per_sec: figures.asked_per_sec,
            offered_per_sec: figures.offered_per_sec,
            lag: LatencyStats::from_histogram(figures.lag_ns.to_histogram()),
            busiest_thread: figures.busiest_thread,
            starved_thread: figures.starved_thread,
            cpu_us_per_call: figures.cpu_us_per_call,
        }
    }
}

impl From<&LatencyStats> for Figures {
    fn from(stats: &LatencyStats) -> Self {
        let at = |time: Duration| (stats.count > 0).then_some(Millis(time));
        Self {
            p50: at(stats.p50),
            p95: at(stats.p95),
            p99: at(stats.p99),
            p999: at(stats.p999),
            min: at(stats.min),
            max: at(stats.max),
            mean: at(stats.mean),
            stddev: at(stats.stddev),
            count: stats.count,
        }
    }
}

impl From<&ThroughputStats> for Throughput {
    fn from(stats: &ThroughputStats) -> Self {
        Self {
            total_requests: stats.total_requests,
            successful_requests: stats.successful_requests,
            requests_per_sec: finite(stats.requests_per_sec),
        }
    }
}

impl From<&ErrorStats> for Errors {
    fn from(stats: &ErrorStats) -> Self {
        let count = |category| (category, stats.by_category.get(&category).copied().unwrap_or(0));
        Self {
            total: stats.total,
            by_category: ErrorCategory::ALL.into_iter().map(count).collect(),
            examples: stats.examples.clone(),
        }
    }
}

impl From<Errors> for ErrorStats {
    fn from(errors: Errors) -> Self {
        Self {
            total: errors.total,
            by_category: occurred(errors.by_category),
            examples: errors.examples,
        }
    }
}

fn occurred(mut counts: BTreeMap<ErrorCategory, u64>) -> BTreeMap<ErrorCategory, u64> {
    counts.retain(|_, count| *count > 0);
    counts
}

impl From<&ProcessStats> for Process {
    fn from(stats: &ProcessStats) -> Self {
        let at = |number: f64| (!stats.samples.is_empty()).then_some(finite(number));
        let sample = |sample: &ProcessSample| ProcessSample {
            rss_mb: finite(sample.rss_mb),
            pss_mb: sample.pss_mb.map(finite),
            cpu_pct: finite(sample.cpu_pct),
            ..*sample
        };
        Self {
            peak_rss_mb: at(stats.peak_rss_mb),
            final_rss_mb: at(stats.final_rss_mb),
            peak_pss_mb: stats.peak_pss_mb.map(finite),
            final_pss_mb: stats.final_pss_mb.map(finite),
            avg_cpu_pct: at(stats.avg_cpu_pct),
            samples: stats.samples.iter().map(sample).collect(),
        }
    }
}

impl From<Process> for ProcessStats {
    fn from(process: Process) -> Self {
        Self {
            peak_rss_mb: process.peak_rss_mb.unwrap_or(0.0),
            final_rss_mb: process.final_rss_mb.unwrap_or(0.0),
            peak_pss_mb: process.peak_pss_mb,
            final_pss_mb: process.final_pss_mb,
            avg_cpu_pct: process.avg_cpu_pct.unwrap_or(0.0),
            samples: process.samples,
        }
    }
}

impl From<&ToolStats> for Tool {
    fn from(stats: &ToolStats) -> Self {
        Self {
            name: stats.name.clone(),
            total_requests: stats.total_requests,
            successful_requests: stats.successful_requests,
            errors: occurred(stats.errors.clone()),
            latency_ms: (&stats.latency).into(),
            first_call_ms: stats.first_call.map(Millis),
            steady_p50_ms: stats.steady_p50.map(Millis),
            windows: stats.windows.clone(),
            histogram_ns: stats.latency.histogram.clone(),
        }
    }
}

impl From<Tool> for ToolStats {
    fn from(tool: Tool) -> Self {
        Self {
            name: tool.name,
            total_requests: tool.total_requests,
            successful_requests: tool.successful_requests,
            errors: occurred(tool.errors),
            latency: LatencyStats::from_histogram(tool.histogram_ns),
            first_call: tool.first_call_ms.map(|time| time.0),
            steady_p50: tool.steady_p50_ms.map(|time| time.0),
            windows: tool.windows,
        }
    }
}

impl From<&StepStats> for Step {
    fn from(stats: &StepStats) -> Self {
        Self {
            name: stats.name.clone(),
            latency_ms: (&stats.latency).into(),
            histogram_ns: stats.latency.histogram.clone(),
        }
    }
}

impl From<Step> for StepStats {
    fn from(step: Step) -> Self {
        Self { name: step.name, latency: LatencyStats::from_histogram(step.histogram_ns) }
    }
}

#[cfg(test)]
mod tests {
    use crate::report::{Renderer as _, fixture::healthy, json};

    /// JSON has no such numbers, and what cannot be read back is no use.
    #[test]
    fn numbers_that_are_none_are_written_as_nothing() {
        let mut report = healthy();
        let sample = &mut report.process.samples[0];
        (sample.rss_mb, sample.pss_mb, sample.cpu_pct) = (f64::NAN, Some(f64::INFINITY), f64::NAN);
        report.throughput.requests_per_sec = f64::INFINITY;
        let mut bytes = Vec::new();
        json::Metrics.render(&report, &mut bytes).unwrap();
        let read = json::read(&String::from_utf8(bytes).unwrap()).expect("numbers");
        let sample = read.process.samples[0];
        assert_eq!((sample.rss_mb, sample.pss_mb, sample.cpu_pct), (0.0, Some(0.0), 0.0));
        assert_eq!(read.throughput.requests_per_sec, 0.0);
    }
}
