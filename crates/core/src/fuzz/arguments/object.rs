//! Objects with members missing, beside what they need, or too many.

use serde_json::{Map, Value, json};

use super::{
    edit::{Edit, What},
    site::Site,
};
use crate::fuzz::Intent;

/// Deep enough to trouble a careless walk, and shallow enough to be read by every parser.
const DEEP: usize = 60;

pub(super) fn edits(site: &Site<'_>, members: &Map<String, Value>) -> Vec<Edit> {
    let wrong = Some(Intent::Negative);
    let mut edits = Vec::new();
    let mut push = |what, label: String, meant| {
        let label = site.labelled(label);
        edits.push(Edit { at: site.at.clone(), what, label, meant, heavy: false });
    };
    for name in members.keys() {
        let shown = crate::display::visible(name, 30);
        let needed = names(site, "required").any(|required| required == name);
        push(
            What::Remove(name.clone()),
            format!("{shown} missing"),
            needed.then_some(Intent::Negative),
        );
    }
    for dependent in site.each("dependentRequired").filter_map(Value::as_object) {
        for (name, needed) in dependent.iter().filter(|(name, _)| members.contains_key(*name)) {
            for other in needed.as_array().into_iter().flatten().filter_map(Value::as_str) {
                let label = format!("{name} without {other}");
                push(What::Remove(other.to_owned()), label, wrong);
            }
        }
    }
    let closed = site.each("additionalProperties").any(|more| more == &json!(false));
    for name in ["mcp_loadtest_extra", "", "__proto__", "constructor", "a\0b", "\u{1f600}"] {
        let meant = closed.then_some(Intent::Negative);
        push(What::Add(name.into(), json!("extra")), format!("a member {name:?} too many"), meant);
    }
    let nested = (0..DEEP).fold(json!(1), |inner, _| json!({ "a": inner }));
    push(What::Add("mcp_loadtest_deep".into(), nested), format!("{DEEP} objects deep"), None);
    if !site.at.is_empty() {
        push(What::Set(json!({})), "empty".into(), None);
    }
    edits
}

fn names<'s>(site: &Site<'s>, keyword: &'s str) -> impl Iterator<Item = &'s str> {
    site.each(keyword).filter_map(Value::as_array).flatten().filter_map(Value::as_str)
}
