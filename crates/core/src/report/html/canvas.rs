//! A small SVG image with two axes. Colours are classes, so that the style sheet may change them.

use std::fmt::Write as _;

use super::{
    escape::{LONGEST_NAME, text},
    scale::Scale,
};

const WIDTH: f64 = 480.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 40.0;
/// How wide a letter is, about.
const LETTER: f64 = 6.5;

/// How values of an axis are told.
pub(crate) type Told = fn(f64) -> String;

/// One axis: where values lie, how they are told, and what they are.
pub(crate) struct Axis {
    pub(crate) scale: Scale,
    pub(crate) told: Told,
    pub(crate) name: &'static str,
}

/// What the names of colours are those of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drawn {
    Lines,
    Areas,
}

/// An image that is being drawn.
pub(crate) struct Canvas {
    body: String,
    height: f64,
    x: Axis,
    y: Axis,
}

impl Canvas {
    /// Draws the axes.
    pub(crate) fn new(height: f64, x: Axis, y: Axis) -> Self {
        let mut canvas = Self { body: String::new(), height, x, y };
        canvas.draw_axes();
        canvas
    }

    fn draw_axes(&mut self) {
        for tick in self.y.scale.ticks() {
            let (y, told) = (self.y(tick), (self.y.told)(tick));
            self.rule((LEFT, y), (WIDTH - RIGHT, y), "grid");
            self.label((LEFT - 6.0, y + 4.0), &told, "end");
        }
        let bottom = self.height - BOTTOM;
        for tick in self.x.scale.ticks() {
            let (x, told) = (self.x(tick), (self.x.told)(tick));
            self.rule((x, bottom), (x, bottom + 4.0), "grid");
            self.label((x, bottom + 17.0), &told, "middle");
        }
        self.rule((LEFT, bottom), (WIDTH - RIGHT, bottom), "axis");
        self.label((WIDTH - RIGHT, self.height - 6.0), self.x.name, "end");
        self.label((LEFT, TOP - 9.0), self.y.name, "start");
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + self.x.scale.place(value) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        let bottom = self.height - BOTTOM;
        bottom - self.y.scale.place(value) * (bottom - TOP)
    }

    fn rule(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) {
        let _ =
            write!(self.body, "<path class=\"{class}\" d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\"/>");
    }

    fn label(&mut self, (x, y): (f64, f64), told: &str, anchor: &str) {
        let told = text(told, LONGEST_NAME);
        let _ = write!(
            self.body,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{told}</text>"
        );
    }

    /// A line through these points; a gap where a value is missing. The style sheet gives each colour dashes
    /// of its own, too.
    pub(crate) fn line(
        &mut self,
        points: impl IntoIterator<Item = (f64, Option<f64>)>,
        colour: usize,
    ) {
        let mut path = String::new();
        let mut pen = 'M';
        for (x, y) in points {
            match y {
                Some(y) => {
                    let _ = write!(path, "{pen}{:.1} {:.1}", self.x(x), self.y(y));
                    pen = 'L';
                }
                None => pen = 'M',
            }
        }
        if !path.is_empty() {
            let _ = write!(self.body, "<path class=\"line c{colour}\" d=\"{path}\"/>");
        }
    }

    /// The area between a lower and an upper edge.
    pub(crate) fn area(&mut self, points: &[(f64, f64, f64)], colour: usize) {
        self.between(points, &format!("area c{colour}"));
    }

    /// The same, through which what lies below is seen: where a line may lie for all that is known.
    pub(crate) fn band(&mut self, points: &[(f64, f64, f64)], colour: usize) {
        self.between(points, &format!("band c{colour}"));
    }

    fn between(&mut self, points: &[(f64, f64, f64)], class: &str) {
        // A path without a point is none, and browsers complain of it.
        if points.is_empty() {
            return;
        }
        let upper = points.iter().map(|(x, _, high)| (*x, *high));
        let lower = points.iter().rev().map(|(x, low, _)| (*x, *low));
        let corners = upper.chain(lower).map(|(x, y)| format!("{:.1} {:.1}", self.x(x), self.y(y)));
        let path = corners.collect::<Vec<_>>().join("L");
        let _ = write!(self.body, "<path class=\"{class}\" d=\"M{path}Z\"/>");
    }

    /// A point.
    pub(crate) fn dot(&mut self, x: f64, y: f64, colour: usize) {
        let (x, y) = (self.x(x), self.y(y));
        let _ = write!(
            self.body,
            "<circle class=\"dot c{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>"
        );
    }

    /// An upright bar from one value to another: where a value lies for all that is known.
    pub(crate) fn whisker(&mut self, x: f64, low: f64, high: f64, colour: usize) {
        let (x, low, high) = (self.x(x), self.y(low), self.y(high));
        let (left, right) = (x - 4.0, x + 4.0);
        let _ = write!(
            self.body,
            "<path class=\"whisker c{colour}\" d=\"M{x:.1} {low:.1}V{high:.1}M{left:.1} {low:.1}H{right:.1}M{left:.1} {high:.1}H{right:.1}\"/>"
        );
    }

    /// A level that must not be passed.
    pub(crate) fn limit(&mut self, value: f64, name: &str) {
        let y = self.y(value);
        self.rule((LEFT, y), (WIDTH - RIGHT, y), "limit");
        let (x, y, name) = (WIDTH - RIGHT - 4.0, y - 5.0, text(name, LONGEST_NAME));
        let _ = write!(
            self.body,
            "<text class=\"halo\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{name}</text>"
        );
    }

    /// A span of the x axis, with its name where it fits.
    pub(crate) fn span(&mut self, from: f64, to: f64, name: &str, is_shaded: bool) {
        let (left, right) = (self.x(from), self.x(to));
        let (width, height) = (right - left, self.height - BOTTOM - TOP);
        if is_shaded {
            let _ = write!(
                self.body,
                "<rect class=\"span\" x=\"{left:.1}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
            );
        }
        if width > LETTER * name.chars().count() as f64 {
            self.label((left + 3.0, TOP + 11.0), name, "start");
        }
    }

    /// A span of the x axis in which a fault was at work, with its label at the foot: one above the other
    /// where there are several.
    pub(crate) fn fault(&mut self, (from, to): (f64, f64), label: &str, colour: usize, row: usize) {
        let (left, right) = (self.x(from), self.x(to));
        let bottom = self.height - BOTTOM;
        // A single hit is a moment, and is seen all the same.
        let (width, height) = ((right - left).max(2.0), bottom - TOP);
        let _ = write!(
            self.body,
            "<rect class=\"fault c{colour}\" x=\"{left:.1}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
        );
        self.label((left + 3.0, bottom - 5.0 - 14.0 * (row % 4) as f64), label, "start");
    }

    /// The image, with the names of its colours below.
    pub(crate) fn svg(self, drawn: Drawn, legend: &[(&str, usize)]) -> String {
        let kind = match drawn {
            Drawn::Lines => "key line",
            Drawn::Areas => "key",
        };
        let mut names = String::new();
        for (name, colour) in legend {
            let name = text(name, LONGEST_NAME);
            let _ = write!(names, "<span class=\"{kind} c{colour}\">{name}</span>");
        }
        format!(
            "<svg viewBox=\"0 0 {WIDTH} {}\" aria-hidden=\"true\" focusable=\"false\">{}</svg><p class=\"keys\">{names}</p>",
            self.height, self.body
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::html::scale::short;

    /// A pixel to the right for each 1, and a pixel up.
    fn canvas() -> Canvas {
        let axis = |high| Axis { scale: Scale::exact(0.0, high), told: short, name: "" };
        Canvas::new(240.0, axis(404.0), axis(178.0))
    }

    fn svg(canvas: Canvas) -> String {
        canvas.svg(Drawn::Lines, &[])
    }

    #[test]
    fn what_is_drawn_lies_where_its_values_are() {
        for (name, draw, drawn) in [
            (
                "a whisker",
                (|canvas| canvas.whisker(101.0, 44.5, 133.5, 3)) as fn(&mut Canvas),
                "<path class=\"whisker c3\" d=\"M163.0 155.5V66.5M159.0 155.5H167.0M159.0 66.5H167.0\"/>",
            ),
            (
                "a band",
                |canvas| canvas.band(&[(0.0, 44.5, 89.0), (404.0, 89.0, 178.0)], 2),
                "<path class=\"band c2\" d=\"M62.0 111.0L466.0 22.0L466.0 111.0L62.0 155.5Z\"/>",
            ),
            (
                "a line with a gap",
                |canvas| {
                    let points =
                        [(0.0, Some(0.0)), (10.0, Some(8.0)), (20.0, None), (30.0, Some(0.0))];
                    canvas.line(points, 1);
                },
                "<path class=\"line c1\" d=\"M62.0 200.0L72.0 192.0M92.0 200.0\"/>",
            ),
            (
                "a fault that lasted a moment, in the third row",
                |canvas| canvas.fault((100.0, 100.0), "F7", 4, 6),
                "<rect class=\"fault c4\" x=\"162.0\" y=\"22\" width=\"2.0\" height=\"178.0\"/>\
                 <text x=\"165.0\" y=\"167.0\" text-anchor=\"start\">F7</text>",
            ),
        ] {
            let mut canvas = canvas();
            draw(&mut canvas);
            let svg = svg(canvas);
            assert!(svg.contains(drawn), "{name}: {svg}");
        }
    }

    #[test]
    fn nothing_is_no_path() {
        let mut canvas = canvas();
        canvas.area(&[], 0);
        canvas.band(&[], 0);
        canvas.line([(1.0, None)], 0);
        assert_eq!(svg(canvas), svg(self::canvas()));
    }

    #[test]
    fn a_span_has_its_name_where_it_fits() {
        for (width, name, fits) in [
            (65.0, "ten chars.", false),
            (65.1, "ten chars.", true),
            (40.0, "ten chars.", false),
            (6.6, "x", true),
            (6.4, "x", false),
        ] {
            let mut canvas = canvas();
            canvas.span(0.0, width, name, false);
            let label = format!("<text x=\"65.0\" y=\"33.0\" text-anchor=\"start\">{name}</text>");
            assert_eq!(svg(canvas).contains(&label), fits, "{name} in {width}");
        }
    }
}
