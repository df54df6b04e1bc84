//! One plot with what belongs to it: the sentence that reads it, and the same numbers as a table.

use super::{
    escape::{LONGEST_TEXT, prose, text},
    plots::Plot,
    span,
    table::Table,
    time::TimeChart,
};

/// A plot of this run.
pub(super) struct Figure {
    /// What it shows, in a sentence or two.
    pub(super) reading: String,
    /// The picture.
    pub(super) picture: Picture,
    /// Its numbers.
    pub(super) table: Table,
}

/// How a plot is drawn.
pub(super) enum Picture {
    /// Over time: drawn by the script, and as a still picture without it.
    Time(TimeChart),
    /// An SVG image.
    Still(String),
    /// The table says it best.
    Table,
}

impl Figure {
    /// The figure as HTML.
    pub(super) fn html(&self, plot: &Plot) -> String {
        let (id, title) = (plot.id, plot.title);
        let reading = prose(&self.reading, LONGEST_TEXT);
        let table = self.table.html(&format!("{title}: the numbers"));
        let body = match &self.picture {
            Picture::Table => table,
            picture => {
                let image = picture.html(id, &self.reading);
                format!("{image}\n{}", folded(title, &table))
            }
        };
        let kind = if matches!(self.picture, Picture::Time(_)) { "figure time" } else { "figure" };
        format!(
            "<section class=\"{kind}\" id=\"{id}\" aria-labelledby=\"{id}-title\">\n\
             <h3 id=\"{id}-title\">{title}</h3>\n<p class=\"reading\">{reading}</p>\n{body}\n</section>\n"
        )
    }
}

/// A table below a picture. Whoever goes from one summary to the next hears which is which.
pub(crate) fn folded(title: &str, table: &str) -> String {
    format!(
        "<details><summary>Numbers of this plot<span class=\"unseen\">: {title}</span></summary>{table}</details>"
    )
}

impl Picture {
    fn html(&self, id: &str, reading: &str) -> String {
        let label = text(reading, LONGEST_TEXT);
        match self {
            Self::Time(chart) => format!(
                "<div class=\"plot\" data-plot=\"{id}\" role=\"img\" aria-label=\"{label}\">{}</div>{}",
                chart.still(),
                span::keys(&chart.spans)
            ),
            Self::Still(svg) => {
                format!("<div class=\"still\" role=\"img\" aria-label=\"{label}\">{svg}</div>")
            }
            Self::Table => String::new(),
        }
    }
}
