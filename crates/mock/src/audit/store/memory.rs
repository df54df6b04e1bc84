//! `memory`: a list, for tests. It grows until its process ends.

use std::{
    ops::ControlFlow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{OpenSource, Opened, Place, Sink, Source, Store, StoreError, Visit};
use crate::audit::{filter::Filter, row::Row};

pub(super) const ENTRY: Store = Store {
    name: "memory",
    form: "memory",
    about: "a list in the memory of the server, for tests",
    is_file: false,
    place: |text| (text == "memory").then_some(""),
    show: |_| "memory".into(),
    open: Some(open),
    read: |_| Err(StoreError::InMemory),
};

fn open(_: &str) -> Result<Opened, StoreError> {
    let rows = Rows::default();
    let read = rows.clone();
    Ok(Opened {
        sink: Box::new(rows),
        first_seq: 1,
        read: OpenSource::new(move || Ok(Box::new(read.clone()))),
    })
}

/// In the order in which they were recorded.
#[derive(Debug, Clone, Default)]
struct Rows(Arc<Mutex<Vec<Row>>>);

impl Rows {
    fn lock(&self) -> MutexGuard<'_, Vec<Row>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for Rows {
    fn append(&mut self, rows: &[Box<Row>]) -> Result<(), StoreError> {
        self.lock().extend(rows.iter().map(|row| Row::clone(row)));
        Ok(())
    }

    fn finish(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

impl Source for Rows {
    fn each(&mut self, filter: &Filter, visit: Visit<'_>) -> Result<(), StoreError> {
        let mut wanted: Vec<Row> =
            self.lock().iter().filter(|row| filter.matches(row)).cloned().collect();
        wanted.sort_by_key(|row| row.seq);
        let _ = filter.cut(&wanted).iter().cloned().try_for_each(visit);
        Ok(())
    }

    fn since(
        &mut self,
        place: Place,
        filter: &Filter,
        visit: Visit<'_>,
    ) -> Result<Place, StoreError> {
        let rows = self.lock().get(place.0 as usize..).unwrap_or_default().to_vec();
        let end = Place(place.0 + rows.len() as u64);
        for row in rows.into_iter().filter(|row| filter.matches(row)) {
            if let ControlFlow::Break(()) = visit(row) {
                break;
            }
        }
        Ok(end)
    }

    fn end(&mut self) -> Result<Place, StoreError> {
        Ok(Place(self.lock().len() as u64))
    }
}
