//! Columns that stand under their heads.

/// On which side of its column a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// A table with columns as wide as they need to be; the last one is not filled up.
pub(super) fn render<const N: usize>(
    heads: [&str; N],
    sides: [Side; N],
    rows: &[[String; N]],
) -> String {
    let mut widths = heads.map(width);
    for row in rows {
        for (known, cell) in widths.iter_mut().zip(row) {
            *known = width(cell).max(*known);
        }
    }
    let mut text = line(&heads.map(str::to_owned), sides, &widths);
    rows.iter().for_each(|row| text.push_str(&line(row, sides, &widths)));
    text
}

pub(super) fn line<const N: usize>(
    cells: &[String; N],
    sides: [Side; N],
    widths: &[usize; N],
) -> String {
    let mut text = String::new();
    for ((cell, side), room) in cells.iter().zip(sides).zip(widths) {
        let fill = " ".repeat(room.saturating_sub(width(cell)));
        let (before, after) =
            if side == Side::Right { (fill, String::new()) } else { (String::new(), fill) };
        text += &format!("{before}{cell}{after}  ");
    }
    text.trim_end().to_owned() + "\n"
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_have_no_trailing_space() {
        let rows = [
            ["1".to_owned(), "é".to_owned(), String::new()],
            ["200".into(), "bb".into(), "c".into()],
        ];
        let text = render(["n", "name", "x"], [Side::Right, Side::Left, Side::Left], &rows);
        assert_eq!(text, "  n  name  x\n  1  é\n200  bb    c\n");
    }
}
