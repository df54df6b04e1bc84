//! What is told of a report, section by section.

use std::time::Duration;

use anstyle::{AnsiColor, Style};

use super::{
    course::{course, course_of},
    kept::kept,
    screen::{PLOT, Screen},
};
use crate::{
    display::visible,
    report::{
        Finding, LatencyStats, Report, Severity, Verdict, felt,
        figures::{counted, decimal, grouped, percent, total},
        meaning::meaning,
        phrases,
    },
    units::format_latency,
};

fn style_of(verdict: Verdict) -> Style {
    let color = match verdict {
        Verdict::Pass => AnsiColor::Green,
        Verdict::Warning | Verdict::Invalid => AnsiColor::Yellow,
        Verdict::Fail | Verdict::Critical => AnsiColor::Red,
    };
    color.on_default().bold()
}

fn style_of_finding(severity: Severity) -> Style {
    match severity {
        Severity::Info => Style::new().bold(),
        Severity::Warning => style_of(Verdict::Warning),
        Severity::Critical => style_of(Verdict::Critical),
    }
}

impl Screen<'_> {
    /// Tells everything, the verdict first and the longest last.
    pub(super) fn tell(&mut self, report: &Report) {
        self.head(report);
        self.meaning(report);
        self.figures(report);
        self.tools(report);
        self.segments(report);
        self.steps(report);
        self.fuzz(report);
        self.thresholds(report);
        self.findings(report);
    }

    fn head(&mut self, report: &Report) {
        let reasons = match phrases::reasons(report) {
            reasons if reasons.is_empty() => "nothing found, no threshold violated".to_owned(),
            reasons => reasons,
        };
        let style = style_of(phrases::tone(report));
        self.labelled(style, report.headline(), &visible(&reasons, 600));
        let target = self.foreign(&report.server_info.target);
        self.field("Server", &target);
        let facts = phrases::server_facts(&report.server_info);
        if !facts.is_empty() {
            let facts = self.foreign(&facts.join(", "));
            self.field("", &facts);
        }
        self.field("Scenario", &phrases::scenario(&report.scenario_kind));
        if let Some(first) = report.calls.first() {
            let more = match report.calls.len() - 1 {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            let call = self.foreign(first);
            self.field("Calls", &format!("{call}{more}"));
        }
        let (id, took) = (visible(&report.run_id, 40), format_latency(report.duration));
        self.field("Run", &format!("{id}, took {took}, seed {}", report.seed));
    }

    fn meaning(&mut self, report: &Report) {
        let sentences = meaning(report);
        if !sentences.is_empty() {
            self.heading("What this means");
        }
        for sentence in sentences.iter().take(self.detail.sentences) {
            self.indented("  ", sentence);
        }
    }

    fn figures(&mut self, report: &Report) {
        self.blank();
        self.field("Latency", &latency_line(report));
        if phrases::service_differs(report) {
            let [p50, p99] = [report.service.p50, report.service.p99].map(format_latency);
            self.field(
                "Service",
                &format!("p50 {p50}, p99 {p99} (from when a call was sent, not due)"),
            );
        }
        self.field("Throughput", &throughput_line(report));
        if let Some(told) = phrases::offered(report) {
            self.field("Load", &told);
        }
        self.field("Errors", &errors_line(report));
        if report.hang_count > 0 || report.deadlock_count > 0 {
            let (hung, silent) =
                (grouped(report.hang_count.into()), grouped(report.deadlock_count.into()));
            self.field(
                "Silence",
                &format!("{hung} passed the hang threshold, {silent} never answered"),
            );
        }
        if let Some(told) = course(report, self.signs) {
            self.field("Course", &told);
        }
        if let Some(told) = process_line(report) {
            self.field("Process", &told);
        }
        self.faults(report);
        if let Some(told) = phrases::grades(report) {
            self.field("Grade", &told);
        }
        if let Some(told) = phrases::coverage(report) {
            self.field("Coverage", &told);
        }
    }

    /// What the faults did.
    fn faults(&mut self, report: &Report) {
        let faults = felt::telling(report);
        let shown = faults.len().min(self.detail.evidence.max(1));
        for (at, fault) in faults.iter().take(shown).enumerate() {
            let label = if at == 0 { "Faults" } else { "" };
            self.field(label, &felt::sentence(report, fault));
        }
        self.more(faults.len(), shown);
    }

    /// One tool is told by the figures above.
    fn tools(&mut self, report: &Report) {
        if report.tools.len() < 2 || self.detail.rows == 0 {
            return;
        }
        self.blank();
        self.row("Tool", ["calls", "failed", "p50", "p99", "max"].map(String::from));
        for tool in report.tools.iter().take(self.detail.rows) {
            let [p50, p99, max] = times(&tool.latency);
            let failed = grouped(total(tool.errors.values().copied()));
            let plot = course_of(&tool.windows, PLOT, self.signs);
            let cells = [grouped(tool.total_requests), failed, p50, p99, max];
            self.row_with(&tool.name, &plot, cells);
        }
        self.more(report.tools.len(), self.detail.rows);
    }

    fn segments(&mut self, report: &Report) {
        if report.segments.is_empty() || self.detail.rows == 0 {
            return;
        }
        self.blank();
        self.row("Step", ["calls/s", "failed", "p50", "p99", "max"].map(String::from));
        for step in report.segments.iter().take(self.detail.rows) {
            let [p50, p99, max] = times(&step.latency);
            let rate = format!("{:.1}", step.requests_per_sec);
            self.row(&step.label, [rate, grouped(step.errors + step.dropped), p50, p99, max]);
        }
        self.more(report.segments.len(), self.detail.rows);
    }

    fn steps(&mut self, report: &Report) {
        if report.steps.is_empty() || self.detail.rows == 0 {
            return;
        }
        self.blank();
        self.row("Step", ["times", "", "p50", "p99", "max"].map(String::from));
        for step in report.steps.iter().take(self.detail.rows) {
            let [p50, p99, max] = times(&step.latency);
            self.row(&step.name, [grouped(step.latency.count), String::new(), p50, p99, max]);
        }
        self.more(report.steps.len(), self.detail.rows);
    }

    fn fuzz(&mut self, report: &Report) {
        let Some(fuzz) = &report.fuzz else { return };
        self.blank();
        if self.detail.rows > 0 {
            self.row("Payload", phrases::FUZZ_COLUMNS.map(String::from));
            for (payload, classes) in &fuzz.payloads {
                self.row(payload.as_str(), phrases::fuzz_cells(classes));
            }
        }
        self.field("Cases", &phrases::fuzz(fuzz));
    }

    fn thresholds(&mut self, report: &Report) {
        let kept = kept(report);
        if report.threshold_violations.is_empty() && kept.is_none() {
            return;
        }
        self.blank();
        if let Some(kept) = kept {
            self.labelled(style_of(Verdict::Pass), "Kept", &kept);
        }
        for (at, violation) in report.threshold_violations.iter().enumerate() {
            let label = if at == 0 { "Violated" } else { "" };
            let (expected, actual) =
                (visible(&violation.expected, 20), visible(&violation.actual, 20));
            let tool = violation.tool.as_deref().map(|tool| format!("{} ", self.foreign(tool)));
            let told = format!(
                "{}{}: expected {expected}, got {actual}",
                tool.unwrap_or_default(),
                violation.metric
            );
            self.labelled(style_of(Verdict::Fail), label, &told);
        }
    }

    fn findings(&mut self, report: &Report) {
        self.more(report.findings.len(), self.detail.findings);
        // The gravest last, where whoever looks at the end of a long screen sees it.
        let mut shown: Vec<&Finding> = report.findings.iter().take(self.detail.findings).collect();
        shown.sort_by_key(|finding| finding.severity);
        for finding in shown {
            self.finding(finding, report.again().as_deref());
        }
        if let Some(again) = report.again().filter(|_| !report.passed()) {
            self.blank();
            self.field("Again", &again);
        }
    }

    /// What shows all findings of a run again is told once, at the end.
    fn finding(&mut self, finding: &Finding, again: Option<&str>) {
        self.blank();
        let style = style_of_finding(finding.severity);
        self.labelled(style, phrases::severity(finding.severity), &visible(&finding.id, 60));
        self.indented("  ", &self.foreign(&finding.message));
        if let Some(meaning) = &finding.meaning {
            self.indented("  means: ", &self.foreign(meaning));
        }
        for evidence in finding.evidence.iter().take(self.detail.evidence) {
            self.indented("  - ", &self.foreign(evidence));
        }
        let is_grave = self.detail.hints.is_some_and(|least| finding.severity >= least);
        if let Some(hint) = finding.hint.as_ref().filter(|_| is_grave) {
            self.indented("  hint: ", &self.foreign(hint));
        }
        let own = finding.reproduce.as_ref().filter(|command| Some(command.as_str()) != again);
        if let Some(command) = own {
            self.indented("  again: ", &self.foreign(command));
        }
    }
}

fn times(latency: &LatencyStats) -> [String; 3] {
    let figure =
        |time: Duration| if latency.count == 0 { "-".into() } else { format_latency(time) };
    [latency.p50, latency.p99, latency.max].map(figure)
}

/// A figure that violates a threshold has a mark.
fn latency_line(report: &Report) -> String {
    if report.latency.count == 0 {
        return "no call was measured".into();
    }
    let figures = phrases::latency_figures(report);
    let told = figures.iter().map(|figure| {
        format!(
            "{} {}{}",
            figure.name,
            format_latency(figure.value),
            if figure.is_violated { "!" } else { "" }
        )
    });
    told.collect::<Vec<_>>().join(", ")
}

fn throughput_line(report: &Report) -> String {
    let throughput = &report.throughput;
    let dropped = if report.dropped > 0 {
        format!(", {} not sent", grouped(report.dropped))
    } else {
        String::new()
    };
    let calls = counted(throughput.total_requests, "call");
    let ok = grouped(throughput.successful_requests);
    format!("{} calls/s ({calls}, {ok} ok{dropped})", decimal(throughput.requests_per_sec))
}

fn process_line(report: &Report) -> Option<String> {
    let process = &report.process;
    let [first, last, peak] =
        [process.samples.first()?.rss_mb, process.final_rss_mb, process.peak_rss_mb];
    let cpu = process.avg_cpu_pct;
    let pss = process.peak_pss_mb.map(|pss| format!(" (PSS {pss:.1} MB)")).unwrap_or_default();
    Some(format!("memory {first:.1} MB -> {last:.1} MB, peak {peak:.1} MB{pss}; CPU {cpu:.1}%"))
}

fn errors_line(report: &Report) -> String {
    let Some(rate) = report.error_rate().filter(|_| report.errors.total > 0) else {
        return "none".into();
    };
    let kinds: Vec<String> = phrases::failures(report)
        .iter()
        .map(|(name, count)| format!("{} {name}", grouped(*count)))
        .collect();
    format!("{} ({}): {}", grouped(report.errors.total), percent(rate), kinds.join(", "))
}
