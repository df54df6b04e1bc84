use super::*;
use proptest::prelude::*;

#[test]
fn reads_what_the_seed_writes() {
    for (text, millis) in [
        ("60s", 60_000),
        ("500ms", 500),
        ("1m30s", 90_000),
        ("1m.5s", 60_500),
        ("1.5s", 1_500),
        ("2h", 7_200_000),
        ("0", 0),
    ] {
        assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
    }
    assert_eq!(parse_size("10KB"), Ok(10_000));
    assert_eq!(parse_size("16MiB"), Ok(16 << 20));
    for bytes in [0, 7, 2_048, 16 << 20] {
        assert_eq!(Size(bytes).to_string().parse(), Ok(Size(bytes)));
    }
}

#[test]
fn measured_things_have_the_unit_that_fits() {
    for (nanos, told) in [
        (999, "999ns"),
        (1_000, "1.00µs"),
        (999_949, "999.9µs"),
        (999_950, "1.00ms"),
        (9_994_999, "9.99ms"),
        (9_995_000, "10.0ms"),
        (999_950_000, "1.00s"),
        (599_949_000_000, "599.9s"),
        (599_950_000_000, "10.0min"),
    ] {
        assert_eq!(format_latency(Duration::from_nanos(nanos)), told);
    }
    for (bytes, told) in [
        (1_023, "1023B"),
        (1_024, "1.0KiB"),
        (1_048_524, "1023.9KiB"),
        (1_048_525, "1.0MiB"),
        (1_048_576, "1.0MiB"),
        (1_073_688_084, "1023.9MiB"),
        (1_073_741_823, "1.0GiB"),
        (1_073_741_824, "1.0GiB"),
    ] {
        assert_eq!(format_size(bytes), told);
    }
    let moment = SystemTime::UNIX_EPOCH + Duration::from_millis(1_778_398_200_900);
    assert_eq!(format_utc(moment), "2026-05-10T07:30:00Z");
}

#[test]
fn refuses_what_has_no_unit_or_no_number() {
    for text in ["", "5", "5 parsecs", "s", "-1s", "1e9s", "99999999999999h"] {
        assert!(parse_duration(text).is_err(), "{text:?}");
    }
}

#[test]
fn sizes_have_the_largest_unit_that_leaves_no_rest() {
    for (bytes, told) in [
        (0, "0B"),
        (1, "1B"),
        (1_023, "1023B"),
        (1_024, "1KiB"),
        (1_025, "1025B"),
        (3 << 10, "3KiB"),
        ((1 << 20) - 1, "1048575B"),
        (1 << 20, "1MiB"),
        ((1 << 20) + (1 << 10), "1025KiB"),
        (3 << 20, "3MiB"),
    ] {
        assert_eq!(Size(bytes).to_string(), told);
        let json = serde_json::json!(told);
        assert_eq!(serde_json::to_value(Size(bytes)).unwrap(), json, "{told}");
        assert_eq!(serde_json::from_value::<Size>(json).unwrap(), Size(bytes), "{told}");
    }
    let schema = schemars::schema_for!(Size).to_value();
    assert_eq!((&schema["title"], &schema["type"]), (&"Size".into(), &"string".into()));
}

#[test]
fn an_error_names_what_is_wrong_and_how_it_is_written() {
    for (text, told) in [
        ("", "the duration is empty"),
        ("5", "`5` is not a duration: a unit is missing"),
        ("5 parsecs", "`5 parsecs` is not a duration: `parsecs` is not one of its units"),
        ("s", "`s` is not a duration: the number cannot be read"),
        // The least that no longer fits into 64 bits.
        (
            "18446744073709551616ns",
            "`18446744073709551616ns` is not a duration: the number cannot be read",
        ),
    ] {
        let error = parse_duration(text).unwrap_err();
        assert_eq!(error.to_string(), told);
        assert!(error.hint().is_some_and(|hint| hint.contains("`1m30s`")), "{text:?}");
    }
    let error = parse_size("10").unwrap_err();
    assert_eq!(error.to_string(), "`10` is not a size: a unit is missing");
    assert!(error.hint().is_some_and(|hint| hint.contains("`16MiB`")), "{error}");
}

#[test]
fn times_are_written_and_counted_to_the_nanosecond() {
    for (nanoseconds, exact, told) in [
        (0, "0s", "0s"),
        (1_000, "1us", "1us"),
        (1_500_000, "1ms500us", "1ms500us"),
        (59_000_000_000, "59s", "59s"),
        (60_000_000_000, "1m", "60s"),
        (90_000_000_000, "1m30s", "1m30s"),
        (3_723_004_005_006, "1h2m3s4ms5us6ns", "1h2m3s4ms5us6ns"),
    ] {
        let duration = Duration::from_nanos(nanoseconds);
        assert_eq!(format_duration(duration), exact);
        assert_eq!(format_span(duration), told);
        assert_eq!(nanos(duration), nanoseconds, "{told}");
    }
    assert_eq!(nanos(Duration::MAX), u64::MAX);
}

#[test]
fn a_time_in_a_file_has_units_or_is_none() {
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Times {
        #[serde(with = "as_text")]
        sure: Duration,
        #[serde(with = "as_text_option")]
        maybe: Option<Duration>,
    }
    for (maybe, written) in
        [(Some(Duration::from_millis(250)), serde_json::json!("250ms")), (None, ().into())]
    {
        let times = Times { sure: Duration::from_secs(90), maybe };
        let json = serde_json::json!({"sure": "1m30s", "maybe": written});
        assert_eq!(serde_json::to_value(&times).unwrap(), json);
        assert_eq!(serde_json::from_value::<Times>(json).unwrap(), times);
    }
    let error = serde_json::from_str::<Times>(r#"{"sure": "5", "maybe": null}"#).unwrap_err();
    let told = error.to_string();
    assert!(told.contains("a unit is missing; write numbers with units"), "{told}");
}

proptest! {
    #[test]
    fn formatted_durations_read_back(nanos in 0_u64..1_000_000_000_000) {
        let duration = Duration::from_nanos(nanos);
        prop_assert_eq!(parse_duration(&format_duration(duration)), Ok(duration));
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,24}") {
        let _ = parse_duration(&text);
        let _ = parse_size(&text);
    }
}
