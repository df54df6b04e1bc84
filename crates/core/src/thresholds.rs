//! The limits that decide whether a run passes, and the judgement itself.
//!
//! The fields are plain values so that a test may write `Thresholds { error_rate: 0.01,
//! ..Default::default() }`; what is not limited holds [`NO_TIME_LIMIT`] or [`NO_LIMIT`].

use std::{fmt, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    config::DurationText,
    units::{as_text, format_duration},
};

/// The value of a latency that is not limited.
pub const NO_TIME_LIMIT: Duration = Duration::MAX;

/// The value of a rate or a size that is not limited.
pub const NO_LIMIT: f64 = f64::INFINITY;

/// The value of a minimum that is not asked for.
pub const NO_MINIMUM: f64 = 0.0;

/// What a run must keep to. A limit that could not be judged for want of samples is violated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Thresholds {
    /// Half of the calls must answer within this time. Default: no limit.
    #[serde(with = "as_text", skip_serializing_if = "is_unlimited_time")]
    #[schemars(with = "DurationText")]
    pub p50_latency: Duration,
    /// 95 of 100 calls must answer within this time. Default: no limit.
    #[serde(with = "as_text", skip_serializing_if = "is_unlimited_time")]
    #[schemars(with = "DurationText")]
    pub p95_latency: Duration,
    /// 99 of 100 calls must answer within this time. Default: no limit.
    #[serde(with = "as_text", skip_serializing_if = "is_unlimited_time")]
    #[schemars(with = "DurationText")]
    pub p99_latency: Duration,
    /// 999 of 1000 calls must answer within this time. Default: no limit.
    #[serde(with = "as_text", skip_serializing_if = "is_unlimited_time")]
    #[schemars(with = "DurationText")]
    pub p999_latency: Duration,
    /// The fraction of calls that may fail; 0.01 means 1 %. Default: no limit.
    #[serde(skip_serializing_if = "is_unlimited")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub error_rate: f64,
    /// A call without an answer for this long hangs. Default: `5s`.
    #[serde(with = "as_text")]
    #[schemars(with = "DurationText")]
    pub hang_timeout: Duration,
    /// How much longer a hanging call may take before it counts as deadlocked. Default: `10s`.
    #[serde(with = "as_text")]
    #[schemars(with = "DurationText")]
    pub grace_period: Duration,
    /// The resident memory of a started server may grow by this many MB during the run. Default:
    /// no limit.
    #[serde(skip_serializing_if = "is_unlimited")]
    #[schemars(range(min = 0.0))]
    pub memory_growth_mb: f64,
    /// At least so many calls must end every second. Default: no limit.
    #[serde(skip_serializing_if = "is_no_minimum")]
    #[schemars(range(min = 0.0))]
    pub min_rps: f64,
    /// Limits for single tools, besides those for all calls together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool: Vec<ToolThresholds>,
}

/// What the calls of one tool must keep to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolThresholds {
    /// The tool.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Half of its calls must answer within this time. Default: no limit.
    #[serde(
        default = "no_time_limit",
        with = "as_text",
        skip_serializing_if = "is_unlimited_time"
    )]
    #[schemars(with = "DurationText")]
    pub p50_latency: Duration,
    /// 95 of 100 of its calls must answer within this time. Default: no limit.
    #[serde(
        default = "no_time_limit",
        with = "as_text",
        skip_serializing_if = "is_unlimited_time"
    )]
    #[schemars(with = "DurationText")]
    pub p95_latency: Duration,
    /// 99 of 100 of its calls must answer within this time. Default: no limit.
    #[serde(
        default = "no_time_limit",
        with = "as_text",
        skip_serializing_if = "is_unlimited_time"
    )]
    #[schemars(with = "DurationText")]
    pub p99_latency: Duration,
    /// 999 of 1000 of its calls must answer within this time. Default: no limit.
    #[serde(
        default = "no_time_limit",
        with = "as_text",
        skip_serializing_if = "is_unlimited_time"
    )]
    #[schemars(with = "DurationText")]
    pub p999_latency: Duration,
    /// The fraction of its calls that may fail. Default: no limit.
    #[serde(default = "no_limit", skip_serializing_if = "is_unlimited")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub error_rate: f64,
    /// At least so many of its calls must end every second. Default: no limit.
    #[serde(default, skip_serializing_if = "is_no_minimum")]
    #[schemars(range(min = 0.0))]
    pub min_rps: f64,
}

impl ToolThresholds {
    /// No limits yet.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            p50_latency: NO_TIME_LIMIT,
            p95_latency: NO_TIME_LIMIT,
            p99_latency: NO_TIME_LIMIT,
            p999_latency: NO_TIME_LIMIT,
            error_rate: NO_LIMIT,
            min_rps: NO_MINIMUM,
        }
    }

    /// The same limits as for a whole run.
    pub(crate) fn as_thresholds(&self) -> Thresholds {
        Thresholds {
            p50_latency: self.p50_latency,
            p95_latency: self.p95_latency,
            p99_latency: self.p99_latency,
            p999_latency: self.p999_latency,
            error_rate: self.error_rate,
            min_rps: self.min_rps,
            ..Thresholds::default()
        }
    }

    /// The limits that were not kept.
    pub fn evaluate(&self, measured: &Measured) -> Vec<ThresholdViolation> {
        let violations = self.as_thresholds().evaluate(measured).into_iter();
        violations
            .map(|violation| ThresholdViolation { tool: Some(self.name.clone()), ..violation })
            .collect()
    }
}

fn no_time_limit() -> Duration {
    NO_TIME_LIMIT
}

fn no_limit() -> f64 {
    NO_LIMIT
}

fn is_no_minimum(limit: &f64) -> bool {
    *limit == NO_MINIMUM
}

fn is_unlimited_time(limit: &Duration) -> bool {
    *limit == NO_TIME_LIMIT
}

fn is_unlimited(limit: &f64) -> bool {
    *limit == NO_LIMIT
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            p50_latency: NO_TIME_LIMIT,
            p95_latency: NO_TIME_LIMIT,
            p99_latency: NO_TIME_LIMIT,
            p999_latency: NO_TIME_LIMIT,
            error_rate: NO_LIMIT,
            hang_timeout: Duration::from_secs(5),
            grace_period: Duration::from_secs(10),
            memory_growth_mb: NO_LIMIT,
            min_rps: NO_MINIMUM,
            tool: Vec::new(),
        }
    }
}

/// What a limit is about. The slug is the name of the field in [`Thresholds`].
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdKind {
    /// The median latency.
    P50Latency,
    /// The 95th percentile of latency.
    P95Latency,
    /// The 99th percentile of latency.
    P99Latency,
    /// The 99.9th percentile of latency.
    P999Latency,
    /// The fraction of calls that failed.
    ErrorRate,
    /// The growth of the server's resident memory.
    MemoryGrowthMb,
    /// Calls that ended every second.
    MinRps,
}

impl ThresholdKind {
    /// The word used in every output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::P50Latency => "p50_latency",
            Self::P95Latency => "p95_latency",
            Self::P99Latency => "p99_latency",
            Self::P999Latency => "p999_latency",
            Self::ErrorRate => "error_rate",
            Self::MemoryGrowthMb => "memory_growth_mb",
            Self::MinRps => "min_rps",
        }
    }
}

impl fmt::Display for ThresholdKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A limit that was not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThresholdViolation {
    /// Which limit.
    pub metric: ThresholdKind,
    /// The tool that it is about; none for a limit on all calls together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What was asked for, such as `<=100ms`.
    pub expected: String,
    /// What was measured, such as `123.4ms`, or [`NO_SAMPLES`].
    pub actual: String,
}

/// What a violation says when there was nothing to judge.
pub const NO_SAMPLES: &str = "no samples";

/// What was measured; absent where there were no samples.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Measured {
    /// The median latency.
    pub p50_latency: Option<Duration>,
    /// The 95th percentile of latency.
    pub p95_latency: Option<Duration>,
    /// The 99th percentile of latency.
    pub p99_latency: Option<Duration>,
    /// The 99.9th percentile of latency.
    pub p999_latency: Option<Duration>,
    /// The fraction of calls that failed.
    pub error_rate: Option<f64>,
    /// The growth of the server's resident memory, in MB.
    pub memory_growth_mb: Option<f64>,
    /// Calls that ended every second.
    pub rps: Option<f64>,
}

impl Thresholds {
    /// The limits on latency: what they are about, the quantile, the time.
    pub fn latencies(&self) -> [(ThresholdKind, f64, Duration); 4] {
        [
            (ThresholdKind::P50Latency, 0.50, self.p50_latency),
            (ThresholdKind::P95Latency, 0.95, self.p95_latency),
            (ThresholdKind::P99Latency, 0.99, self.p99_latency),
            (ThresholdKind::P999Latency, 0.999, self.p999_latency),
        ]
    }

    /// The limits that were not kept, in the order of the fields. None means that the run passes.
    ///
    /// ```
    /// # use mcp_loadtest_core::thresholds::{Measured, Thresholds};
    /// let limits = Thresholds { error_rate: 0.01, ..Default::default() };
    /// assert!(limits.evaluate(&Measured { error_rate: Some(0.002), ..Default::default() }).is_empty());
    /// assert_eq!(limits.evaluate(&Measured::default())[0].actual, "no samples");
    /// ```
    pub fn evaluate(&self, measured: &Measured) -> Vec<ThresholdViolation> {
        use ThresholdKind::{
            ErrorRate, MemoryGrowthMb, P50Latency, P95Latency, P99Latency, P999Latency,
        };
        let latencies = [
            (P50Latency, self.p50_latency, measured.p50_latency),
            (P95Latency, self.p95_latency, measured.p95_latency),
            (P99Latency, self.p99_latency, measured.p99_latency),
            (P999Latency, self.p999_latency, measured.p999_latency),
        ];
        let times = latencies.into_iter().filter_map(|(metric, limit, actual)| {
            judge(metric, limit, actual, NO_TIME_LIMIT, format_duration, short_time)
        });
        let rate = judge(
            ErrorRate,
            self.error_rate,
            number(measured.error_rate),
            NO_LIMIT,
            exact_percent,
            short_percent,
        );
        let growth = number(measured.memory_growth_mb);
        let memory =
            judge(MemoryGrowthMb, self.memory_growth_mb, growth, NO_LIMIT, exact_mb, short_mb);
        times.chain(rate).chain(memory).chain(self.too_few(measured)).collect()
    }
}

impl Thresholds {
    /// The one limit that is a minimum.
    fn too_few(&self, measured: &Measured) -> Option<ThresholdViolation> {
        let (limit, actual) = (self.min_rps, number(measured.rps));
        if limit <= NO_MINIMUM || actual.is_some_and(|actual| actual >= limit) {
            return None;
        }
        let actual = match actual {
            None => NO_SAMPLES.to_owned(),
            // Rounding must not make it look as if the limit had been kept.
            Some(actual) if (actual * 10.0).round() / 10.0 >= limit => format!("{actual}/s"),
            Some(actual) => format!("{actual:.1}/s"),
        };
        let expected = format!(">={limit}/s");
        Some(ThresholdViolation { metric: ThresholdKind::MinRps, tool: None, expected, actual })
    }
}

/// A rate of nothing (0 / 0) is no sample.
fn number(measured: Option<f64>) -> Option<f64> {
    measured.filter(|value| !value.is_nan())
}

/// Compares one value with its limit. The short form of the value is shown unless it would read as
/// if the limit had been kept (`<=100ms`, `100.0ms`).
fn judge<T: PartialOrd + Copy>(
    metric: ThresholdKind,
    limit: T,
    actual: Option<T>,
    unlimited: T,
    exact: fn(T) -> String,
    short: fn(T) -> (String, T),
) -> Option<ThresholdViolation> {
    if limit == unlimited || actual.is_some_and(|actual| actual <= limit) {
        return None;
    }
    let actual = match actual {
        None => NO_SAMPLES.to_owned(),
        Some(actual) => match short(actual) {
            (text, shown) if shown > limit => text,
            _ => exact(actual),
        },
    };
    Some(ThresholdViolation { metric, tool: None, expected: format!("<={}", exact(limit)), actual })
}

/// A time to one decimal of its unit, and the value that this text stands for.
fn short_time(time: Duration) -> (String, Duration) {
    let (unit, nanos) = match time.as_nanos() {
        n if n < 1_000_000 => ("us", 1e3),
        n if n < 1_000_000_000 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    let tenths = (time.as_nanos() as f64 / nanos * 10.0).round();
    let shown = Duration::from_nanos((tenths / 10.0 * nanos).round() as u64);
    (format!("{:.1}{unit}", tenths / 10.0), shown)
}

fn exact_percent(rate: f64) -> String {
    // Rounding drops what the multiplication adds: 0.07 * 100 is 7.000000000000001.
    format!("{}%", (rate * 100.0 * 1e9).round() / 1e9)
}

fn short_percent(rate: f64) -> (String, f64) {
    let hundredths = (rate * 10_000.0).round();
    (format!("{:.2}%", hundredths / 100.0), hundredths / 10_000.0)
}

fn exact_mb(size: f64) -> String {
    format!("{size}MB")
}

fn short_mb(size: f64) -> (String, f64) {
    let tenths = (size * 10.0).round();
    (format!("{:.1}MB", tenths / 10.0), tenths / 10.0)
}

#[cfg(test)]
mod tests;
