//! Parts of a run that plots over time tell apart: steps of the load, pauses, faults at work.

use std::{collections::BTreeSet, fmt::Write as _};

use serde_json::{Value, json};

use super::{
    canvas::Canvas,
    escape::{LONGEST_NAME, text},
};

/// The colours of faults, one after the other. What tells them apart for sure is their number.
const COLOURS: [usize; 4] = [5, 2, 3, 4];

/// A part of the run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) name: String,
    pub(super) mark: Mark,
}

/// Why a part of the run is told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// A step of the scenario.
    Step,
    /// The load was held.
    Pause,
    /// The fault with this number, from 0, was at work.
    Fault(usize),
    /// The same for nearly all of the run: it tells no part from another, so that nothing is shaded.
    Lasting(usize),
}

impl Mark {
    /// The word that the script knows it by.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Pause => "pause",
            Self::Fault(_) => "fault",
            Self::Lasting(_) => "lasting",
        }
    }
}

impl Span {
    /// What stands in the plot: a fault has a number, and its name in the legend.
    fn label(&self) -> String {
        self.fault().map_or_else(|| self.name.clone(), label)
    }

    /// What the script needs.
    pub(super) fn data(&self) -> Value {
        let mut data =
            vec![json!(self.from), json!(self.to), json!(self.label()), json!(self.mark.as_str())];
        if let Some(number) = self.fault() {
            data.extend([json!(colour(number)), json!(number)]);
        }
        Value::Array(data)
    }

    /// The same in a still picture. Every other step is shaded, so that neighbours are told apart.
    pub(super) fn draw(&self, at: usize, canvas: &mut Canvas) {
        let is_shaded = self.mark == Mark::Pause || at % 2 == 1;
        match self.mark {
            Mark::Step | Mark::Pause => canvas.span(self.from, self.to, &self.name, is_shaded),
            Mark::Fault(number) => {
                canvas.fault((self.from, self.to), &label(number), colour(number), number);
            }
            Mark::Lasting(_) => {}
        }
    }

    /// The number of the fault.
    pub(super) fn fault(&self) -> Option<usize> {
        match self.mark {
            Mark::Fault(number) | Mark::Lasting(number) => Some(number),
            Mark::Step | Mark::Pause => None,
        }
    }
}

/// `F1`
pub(super) fn label(number: usize) -> String {
    format!("F{}", number + 1)
}

const fn colour(number: usize) -> usize {
    COLOURS[number % COLOURS.len()]
}

/// Whether faults were at work.
pub(super) fn has_faults(spans: &[Span]) -> bool {
    spans.iter().any(|span| span.fault().is_some())
}

/// The faults that were at work between two moments: `F1, F2`.
pub(super) fn at_work(spans: &[Span], from: f64, to: f64) -> String {
    let hit = spans.iter().filter(|span| span.from < to && span.to >= from);
    let numbers: BTreeSet<usize> = hit.filter_map(Span::fault).collect();
    let labels: Vec<String> = numbers.into_iter().map(label).collect();
    if labels.is_empty() { "-".into() } else { labels.join(", ") }
}

/// Which number is which fault; nothing where there is none.
pub(super) fn keys(spans: &[Span]) -> String {
    let mut told: Vec<(usize, &Span)> = Vec::new();
    for span in spans {
        if let Some(number) = span.fault()
            && !told.iter().any(|known| known.0 == number)
        {
            told.push((number, span));
        }
    }
    if told.is_empty() {
        return String::new();
    }
    let mut html = String::from("<p class=\"keys\">Faults at work:");
    for (number, span) in told {
        let lasting = if matches!(span.mark, Mark::Lasting(_)) { " all the time" } else { "" };
        let _ = write!(
            html,
            " <span class=\"key fault c{}\">{} <code>{}</code>{lasting}</span>",
            colour(number),
            label(number),
            text(&span.name, LONGEST_NAME)
        );
    }
    html + "</p>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_go_by_a_number_that_the_legend_explains() {
        let fault = |from: f64, number| Span {
            from,
            to: from + 2.0,
            name: "<slow>".into(),
            mark: Mark::Fault(number),
        };
        let step = Span { from: 0.0, to: 9.0, name: "base".into(), mark: Mark::Step };
        let spans = [step.clone(), fault(1.0, 0), fault(2.5, 0), fault(6.0, 1)];
        assert_eq!(at_work(&spans, 2.0, 3.0), "F1");
        assert_eq!(at_work(&spans, 0.0, 9.0), "F1, F2");
        assert_eq!(at_work(&spans, 0.0, 1.0), "-");
        assert_eq!(keys(&spans).matches("&lt;slow&gt;").count(), 2);
        let none = std::slice::from_ref(&step);
        assert_eq!((keys(none), has_faults(none)), (String::new(), false));
        assert_eq!(spans[1].data()[2], "F1");
    }
}
