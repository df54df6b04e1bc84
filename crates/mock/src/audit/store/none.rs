//! `none`: no log.

use super::{Store, StoreError};

pub(super) const ENTRY: Store = Store {
    name: "none",
    form: "none",
    about: "no log",
    is_file: false,
    place: |text| (text == "none").then_some(""),
    show: |_| "none".into(),
    open: None,
    read: |_| Err(StoreError::NoStore),
};
