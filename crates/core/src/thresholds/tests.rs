use super::*;
use proptest::prelude::*;

fn texts(limits: &Thresholds, measured: &Measured) -> Vec<(String, String, String)> {
    let violations = limits.evaluate(measured);
    violations.into_iter().map(|v| (v.metric.to_string(), v.expected, v.actual)).collect()
}

fn text(metric: &str, expected: &str, actual: &str) -> (String, String, String) {
    (metric.into(), expected.into(), actual.into())
}

#[test]
fn the_example_of_the_design_compiles() {
    let limits = Thresholds {
        p99_latency: Duration::from_millis(500),
        error_rate: 0.01,
        hang_timeout: Duration::from_secs(5),
        ..Default::default()
    };
    let json = serde_json::to_value(&limits).unwrap();
    assert_eq!(
        json,
        serde_json::json!({"p99_latency": "500ms", "error_rate": 0.01, "hang_timeout": "5s", "grace_period": "10s"})
    );
    assert_eq!(serde_json::from_value::<Thresholds>(json).unwrap(), limits);
    assert_eq!(serde_json::from_str::<Thresholds>("{}").unwrap(), Thresholds::default());
}

#[test]
fn violations_read_like_the_design() {
    let limits = Thresholds {
        p50_latency: Duration::from_millis(100),
        p99_latency: Duration::from_millis(100),
        error_rate: 0.01,
        memory_growth_mb: 50.0,
        ..Default::default()
    };
    let measured = Measured {
        p50_latency: Some(Duration::from_millis(100)),
        p99_latency: Some(Duration::from_micros(123_400)),
        error_rate: Some(0.0234),
        memory_growth_mb: Some(61.23),
        ..Default::default()
    };
    assert_eq!(
        texts(&limits, &measured),
        [
            text("p99_latency", "<=100ms", "123.4ms"),
            text("error_rate", "<=1%", "2.34%"),
            text("memory_growth_mb", "<=50MB", "61.2MB"),
        ]
    );
}

#[test]
fn times_have_the_unit_that_they_reach() {
    for (micros, told) in [(999, "999.0us"), (1_000, "1.0ms"), (999_900, "999.9ms")] {
        assert_eq!(short_time(Duration::from_micros(micros)).0, told);
    }
    assert_eq!(short_time(Duration::from_secs(1)), ("1.0s".into(), Duration::from_secs(1)));
}

#[test]
fn rounding_never_hides_the_violation() {
    let limits = Thresholds {
        p99_latency: Duration::from_millis(100),
        error_rate: 0.07,
        ..Default::default()
    };
    let measured = Measured {
        p99_latency: Some(Duration::from_nanos(100_000_001)),
        error_rate: Some(0.070_001),
        ..Default::default()
    };
    assert_eq!(
        texts(&limits, &measured),
        [text("p99_latency", "<=100ms", "100ms1ns"), text("error_rate", "<=7%", "7.0001%")]
    );
}

#[test]
fn a_limit_without_samples_is_violated() {
    let limits =
        Thresholds { p95_latency: Duration::from_secs(1), error_rate: 0.0, ..Default::default() };
    let measured = Measured { error_rate: Some(f64::NAN), ..Default::default() };
    assert_eq!(
        texts(&limits, &measured),
        [text("p95_latency", "<=1s", NO_SAMPLES), text("error_rate", "<=0%", NO_SAMPLES)]
    );
    assert_eq!(Thresholds::default().evaluate(&Measured::default()), []);
}

#[test]
fn slugs_are_the_names_of_the_fields() {
    let json = serde_json::to_value(Thresholds {
        p50_latency: Duration::ZERO,
        p95_latency: Duration::ZERO,
        p99_latency: Duration::ZERO,
        p999_latency: Duration::ZERO,
        error_rate: 0.0,
        memory_growth_mb: 0.0,
        min_rps: 1.0,
        ..Default::default()
    })
    .unwrap();
    for violation in
        serde_json::from_value::<Thresholds>(json.clone()).unwrap().evaluate(&Measured::default())
    {
        assert_eq!(serde_json::to_value(violation.metric).unwrap(), violation.metric.as_str());
        assert!(json.get(violation.metric.as_str()).is_some(), "{}", violation.metric);
    }
}

#[test]
fn a_tool_is_judged_by_its_own_limits() {
    let limits = ToolThresholds {
        p99_latency: Duration::from_millis(10),
        min_rps: 100.0,
        ..ToolThresholds::new("search")
    };
    let measured = Measured {
        p99_latency: Some(Duration::from_millis(20)),
        rps: Some(99.99),
        ..Default::default()
    };
    let violations = limits.evaluate(&measured);
    assert!(violations.iter().all(|violation| violation.tool.as_deref() == Some("search")));
    let told: Vec<_> =
        violations.iter().map(|v| format!("{} {} {}", v.metric, v.expected, v.actual)).collect();
    assert_eq!(told, ["p99_latency <=10ms 20.0ms", "min_rps >=100/s 99.99/s"]);
    let fine = Measured { rps: Some(100.0), p99_latency: Some(Duration::ZERO), ..measured };
    assert_eq!(limits.evaluate(&fine), []);
    let text = "name = 'search'\np99_latency = '10ms'\nmin_rps = 100.0";
    assert_eq!(toml::from_str::<ToolThresholds>(text).unwrap(), limits);
}

#[test]
fn a_tool_has_every_limit_but_the_memory_of_the_server() {
    let limits = ToolThresholds {
        name: "search".into(),
        p50_latency: Duration::from_millis(1),
        p95_latency: Duration::from_millis(2),
        p99_latency: Duration::from_millis(3),
        p999_latency: Duration::from_millis(4),
        error_rate: 0.5,
        min_rps: 100.0,
    };
    let json = serde_json::to_value(&limits).unwrap();
    let written = serde_json::json!({
        "name": "search", "p50_latency": "1ms", "p95_latency": "2ms", "p99_latency": "3ms",
        "p999_latency": "4ms", "error_rate": 0.5, "min_rps": 100.0
    });
    assert_eq!(json, written);
    assert_eq!(serde_json::from_value::<ToolThresholds>(json).unwrap(), limits);
    let bare = serde_json::to_value(ToolThresholds::new("search")).unwrap();
    assert_eq!(bare, serde_json::json!({"name": "search"}));

    let slow = Some(Duration::from_millis(10));
    let measured = Measured {
        p50_latency: slow,
        p95_latency: slow,
        p99_latency: slow,
        p999_latency: slow,
        error_rate: Some(0.75),
        memory_growth_mb: Some(1e6),
        rps: Some(50.04),
    };
    let told: Vec<_> = limits
        .evaluate(&measured)
        .into_iter()
        .map(|v| text(v.metric.as_str(), &v.expected, &v.actual))
        .collect();
    let expected = [
        text("p50_latency", "<=1ms", "10.0ms"),
        text("p95_latency", "<=2ms", "10.0ms"),
        text("p99_latency", "<=3ms", "10.0ms"),
        text("p999_latency", "<=4ms", "10.0ms"),
        text("error_rate", "<=50%", "75.00%"),
        text("min_rps", ">=100/s", "50.0/s"),
    ];
    assert_eq!(told, expected);
}

#[test]
fn latencies_go_with_their_quantiles() {
    let limits = Thresholds {
        p50_latency: Duration::from_secs(1),
        p95_latency: Duration::from_secs(2),
        p99_latency: Duration::from_secs(3),
        ..Default::default()
    };
    let expected = [
        (ThresholdKind::P50Latency, 0.5, Duration::from_secs(1)),
        (ThresholdKind::P95Latency, 0.95, Duration::from_secs(2)),
        (ThresholdKind::P99Latency, 0.99, Duration::from_secs(3)),
        (ThresholdKind::P999Latency, 0.999, NO_TIME_LIMIT),
    ];
    assert_eq!(limits.latencies(), expected);
}

#[test]
fn memory_that_would_round_to_its_limit_is_told_exactly() {
    let limits = Thresholds { memory_growth_mb: 50.0, ..Default::default() };
    let grown = |mb| Measured { memory_growth_mb: Some(mb), ..Default::default() };
    for (mb, told) in [(50.04, "50.04MB"), (50.06, "50.1MB")] {
        assert_eq!(texts(&limits, &grown(mb)), [text("memory_growth_mb", "<=50MB", told)]);
    }
    assert_eq!(texts(&limits, &grown(50.0)), []);
}

proptest! {
    #[test]
    fn a_violation_is_found_exactly_when_the_limit_is_exceeded(limit in 0_u64..10_000_000_000, actual in 0_u64..10_000_000_000) {
        let limits = Thresholds { p50_latency: Duration::from_nanos(limit), ..Default::default() };
        let measured = Measured { p50_latency: Some(Duration::from_nanos(actual)), ..Default::default() };
        prop_assert_eq!(limits.evaluate(&measured).is_empty(), actual <= limit);
    }
}
