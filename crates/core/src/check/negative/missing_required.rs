//! A required property is missing: each in its turn, also of objects in the arguments.

use super::{Made, Subject};

/// One case for each required property.
pub fn missing_required(subject: &Subject<'_>) -> Made {
    let mut made = Made::default();
    for field in subject.fields().iter().filter(|field| field.required) {
        // The first item of a list is no property: a list without it is another list.
        if field.path.last().is_none_or(|step| step.parse::<usize>().is_ok()) {
            continue;
        }
        let arguments = subject.with(field, None).filter(|bad| subject.oracle.forbids(bad));
        made.place(|| format!("without {}", field.name()), arguments);
    }
    made
}
