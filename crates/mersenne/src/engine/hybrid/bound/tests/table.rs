//! Tables of the constants and of the attacks, for `docs/internals/hybrid-bound.md`.

use super::super::gpu::Line;
use super::super::stage::Stage;
use super::super::{Roundings, Stages, constant, largest_bits, stages};
use super::attack::attack;
use super::factors::scanned_stages;

/// Digits that carries enlarge by at most 2^−6 of their size, and the slack of the last expression.
const EXCESS: f64 = 1.0 / 64.0;
const SLACK: f64 = 1.0;

/// Plausible shapes of the lengths for records: N, column, row.
const SHAPES: [(usize, Line, Line); 9] = [
    (1 << 18, [8, 4, 8], [8, 8, 8]),
    (3 << 19, [16, 8, 8], [12, 8, 8]),
    (3 << 20, [8, 8, 16], [12, 16, 8]),
    (3 << 20, [16, 8, 8], [12, 16, 8]),
    (3 << 22, [16, 16, 8], [12, 16, 16]),
    (3 << 22, [8, 16, 16], [12, 16, 16]),
    (21 << 18, [16, 8, 8], [14, 12, 16]),
    (21 << 18, [16, 8, 8], [12, 14, 16]),
    (77 << 16, [8, 8, 8], [22, 28, 8]),
];

#[test]
fn constants_of_the_book() {
    // The column "K, formula" of the table there.
    let of_book = [311.6, 373.7, 397.9, 397.4, 445.3, 445.9, 412.9, 409.0, 386.5];
    for ((n, column, row), of_book) in SHAPES.into_iter().zip(of_book) {
        let radices = column.iter().chain(&row).map(|&r| r as usize).product::<usize>();
        assert_eq!(2 * radices, n);
        let k = constant(&stages(column, row), Roundings::GPU);
        assert!((k - of_book).abs() < 0.051, "{n}: {k}");
    }
}

#[test]
#[ignore = "half a minute: every factor of long transforms is computed"]
fn table_of_constants() {
    println!(
        "| N | column | row | K, exact factors | K, formula | bits | K, scanned | bits | norm measured |"
    );
    for (n, column, row) in SHAPES {
        let of = |stages: &Stages| {
            let k = constant(stages, Roundings::GPU);
            (k, largest_bits(k, n, EXCESS, SLACK))
        };
        let formula = stages(column, row);
        let (exact, _) = of(&with_exact_factors(&formula));
        let (k, bits) = of(&formula);
        let (scanned, more) = of(&scanned_stages(column, row));
        // ‖x‖² of random digits is a third of that of the largest digits.
        let measured = more + 0.5 * 3f64.log2();
        println!(
            "| {n} | {column:?} | {row:?} | {exact:.0} | {k:.1} | {bits:.2} | {scanned:.1} | {more:.2} | {measured:.2} |"
        );
    }
}

/// Returns the same stages with factors that have no error.
fn with_exact_factors(stages: &Stages) -> Stages {
    let exact = |stage: &Stage| match *stage {
        Stage::Sums => Stage::Sums,
        Stage::Fused { .. } => Stage::Fused { factor: 0.0 },
        Stage::Odd { radix, factor, fused } => {
            Stage::Odd { radix, factor: factor.map(|_| 0.0), fused }
        }
    };
    Stages {
        forward: stages.forward.iter().map(exact).collect(),
        inverse: stages.inverse.iter().map(exact).collect(),
        product: 0.0,
    }
}

#[test]
#[ignore = "minutes: long searches for digits with large errors"]
fn table_of_attacks() {
    println!("| N | column | row | largest error | after a search | K | pattern |");
    for (column, row, bits, trials) in [
        ([4, 1, 2], [2, 1, 4], 24.3, 60_000),
        ([2, 2, 4], [4, 2, 2], 24.3, 20_000),
        ([6, 1, 4], [2, 3, 4], 24.3, 10_000),
        ([4, 2, 2], [2, 7, 2], 24.3, 10_000),
        ([4, 2, 2], [2, 11, 2], 24.3, 10_000),
        ([4, 1, 8], [8, 1, 4], 24.3, 2_000),
        ([4, 4, 4], [4, 4, 4], 23.3, 300),
        ([4, 4, 8], [4, 4, 8], 23.0, 100),
        ([8, 4, 8], [8, 8, 8], 21.0, 20),
    ] {
        let found = attack(column, row, bits, trials);
        let words = 2 * column.iter().chain(&row).product::<u32>();
        let ([patterns, searched], [_, k]) = (found.found, found.proven);
        println!(
            "| {words} | {column:?} | {row:?} | {patterns:.2} | {searched:.2} | {k:.0} | {} |",
            found.pattern
        );
        assert!(searched < k);
    }
}
