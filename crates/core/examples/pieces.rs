//! The pure pieces of the hot path, one at a time and many times over, for whoever counts what they
//! cost: `make bench` runs this under callgrind.
//!
//! ```text
//! pieces            prints the names
//! pieces NAME N     does NAME N times
//! ```

#[path = "../benches/pieces.rs"]
mod pieces;

use std::io::{self, Write as _};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [] => {
            for piece in pieces::PIECES {
                writeln!(io::stdout(), "{}", piece.name)?;
            }
            Ok(())
        }
        [name, times] => {
            let piece = pieces::PIECES.iter().find(|piece| piece.name == name);
            let piece = piece.ok_or_else(|| io::Error::other(format!("no piece `{name}`")))?;
            let times = times.parse().map_err(io::Error::other)?;
            let mut act = (piece.prepare)();
            (0..times).for_each(|_: u64| act());
            Ok(())
        }
        _ => Err(io::Error::other("use: pieces [NAME N]")),
    }
}
