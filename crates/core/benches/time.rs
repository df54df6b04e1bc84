//! How long the pure pieces of the hot path take: `cargo bench -p mcp-loadtest-core`. Times move with
//! the machine; what `make bench` counts does not.

mod pieces;

use criterion::Criterion;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    for piece in pieces::PIECES {
        criterion.bench_function(piece.name, |bencher| bencher.iter((piece.prepare)()));
    }
    criterion.final_summary();
}
