//! When faults were at work, as far as a log tells.

use std::{
    ops::ControlFlow,
    time::{Duration, SystemTime},
};

use mcp_loadtest_core::fault::{FaultWindow, Hits};
use serde::Deserialize;

use super::{
    filter::{Filter, Keep},
    row::Row,
    store::{Place, Source, StoreError},
    time::Timestamp,
};

/// What a log has of a span of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultsSeen {
    /// Messages that arrived in it.
    pub rows: u64,
    /// When which fault hit some of them, from the start of the span.
    pub windows: Vec<FaultWindow>,
}

/// When faults were at work in the time from `start` on.
pub fn fault_windows(
    log: &mut dyn Source,
    start: SystemTime,
    length: Duration,
) -> Result<FaultsSeen, StoreError> {
    let from = Timestamp::from(start);
    let until = i64::try_from(length.as_micros()).unwrap_or(i64::MAX);
    let filter = Filter {
        from: Some(from),
        to: Some(Timestamp(from.0.saturating_add(until))),
        ..Filter::default()
    };
    let (mut hits, mut rows) = (Hits::new(length), 0_u64);
    log.each(&filter, &mut |row| {
        rows = rows.saturating_add(1);
        add(&mut hits, &row, from);
        ControlFlow::Continue(())
    })?;
    Ok(FaultsSeen { rows, windows: hits.windows() })
}

/// The same while the log grows: each look reads only what is new.
pub struct FaultWatch {
    log: Box<dyn Source>,
    place: Place,
    filter: Filter,
    from: Timestamp,
    hits: Hits,
}

impl FaultWatch {
    /// Looks at the time from `start` on, for about so long.
    pub fn new(log: Box<dyn Source>, start: SystemTime, length: Duration) -> Self {
        let from = Timestamp::from(start);
        let filter = Filter { from: Some(from), ..Filter::default() };
        Self { log, place: Place::default(), filter, from, hits: Hits::new(length) }
    }

    /// The windows of all that was recorded until now.
    pub fn look(&mut self) -> Result<Vec<FaultWindow>, StoreError> {
        let Self { log, place, filter, from, hits } = self;
        *place = log.since(*place, filter, &mut |row| {
            add(hits, &row, *from);
            ControlFlow::Continue(())
        })?;
        Ok(hits.windows())
    }
}

fn add(hits: &mut Hits, row: &Row, start: Timestamp) {
    let since = u64::try_from(row.ts.0.saturating_sub(start.0)).unwrap_or_default();
    let took = Duration::from_micros(row.duration_us);
    for name in fired(row) {
        hits.add(&name, Duration::from_micros(since), took);
    }
}

/// When the first and the last row of a log arrived; nothing where it has none.
pub fn extent(log: &mut dyn Source) -> Result<Option<(Timestamp, Timestamp)>, StoreError> {
    let mut one = |keep| {
        let rows = log.query(&Filter { limit: Some(1), keep, ..Filter::default() })?;
        Ok::<_, StoreError>(rows.first().map(|row| row.ts))
    };
    Ok(one(Keep::First)?.zip(one(Keep::Last)?))
}

/// What a row says of a fault that was asked.
#[derive(Deserialize)]
struct Asked {
    fault: String,
    fired: bool,
}

/// The faults that hit a call. What is not the list that a server writes names none.
fn fired(row: &Row) -> Vec<String> {
    let asked = row.fault.as_deref().and_then(|text| serde_json::from_str::<Vec<Asked>>(text).ok());
    asked.unwrap_or_default().into_iter().filter(|one| one.fired).map(|one| one.fault).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::store::Visit;

    /// Rows in memory.
    struct Rows(Vec<Row>);

    impl Source for Rows {
        fn each(&mut self, filter: &Filter, visit: Visit<'_>) -> Result<(), StoreError> {
            let wanted: Vec<&Row> = self.0.iter().filter(|row| filter.matches(row)).collect();
            for row in filter.cut(&wanted) {
                let _ = visit((*row).clone());
            }
            Ok(())
        }

        fn since(
            &mut self,
            at: Place,
            filter: &Filter,
            visit: Visit<'_>,
        ) -> Result<Place, StoreError> {
            let new = self.0.iter().skip(usize::try_from(at.0).unwrap_or(usize::MAX));
            for row in new.filter(|row| filter.matches(row)) {
                let _ = visit(row.clone());
            }
            self.end()
        }

        fn end(&mut self) -> Result<Place, StoreError> {
            Ok(Place(self.0.len() as u64))
        }
    }

    fn row(ms: i64, fault: &str) -> Row {
        let fault = Some(fault.to_owned()).filter(|text| !text.is_empty());
        Row { ts: Timestamp(ms * 1_000), duration_us: 50_000, fault, ..Row::default() }
    }

    const HIT: &str = r#"[{"fault":"slow","kind":"slow","seed":1,"ordinal":1,"fired":true}]"#;
    const SPARED: &str = r#"[{"fault":"slow","kind":"slow","seed":1,"ordinal":2,"fired":false}]"#;

    #[test]
    fn only_faults_that_fired_in_the_span_make_windows() {
        let rows = [
            row(500, HIT),
            row(1_500, ""),
            row(2_000, HIT),
            row(2_400, HIT),
            row(2_500, SPARED),
            row(2_600, "{not a list"),
            row(9_000, HIT),
        ];
        let mut log = Rows(rows.into());
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
        let seen = fault_windows(&mut log, start, Duration::from_secs(5)).unwrap();
        let ms = Duration::from_millis;
        let window = FaultWindow { name: "slow".into(), from: ms(1_000), to: ms(1_450), calls: 2 };
        assert_eq!(seen, FaultsSeen { rows: 5, windows: vec![window] });
        assert_eq!(extent(&mut log).unwrap(), Some((Timestamp(500_000), Timestamp(9_000_000))));
        assert_eq!(extent(&mut Rows(Vec::new())).unwrap(), None);
    }

    #[test]
    fn a_log_that_grows_is_read_once() {
        let log = Rows([row(500, HIT), row(1_500, HIT), row(1_600, SPARED)].into());
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
        let mut watch = FaultWatch::new(Box::new(log), start, Duration::from_secs(60));
        let ms = Duration::from_millis;
        let windows = [FaultWindow { name: "slow".into(), from: ms(500), to: ms(550), calls: 1 }];
        assert_eq!(watch.look().unwrap(), windows);
        assert_eq!(watch.look().unwrap(), windows, "nothing is new, and nothing counts twice");
    }
}
