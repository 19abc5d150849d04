//! Measures the engine. The tests are ignored; run them with `--release` and `--nocapture`.

use super::*;

/// Prints the times of squarings, with explicit vectors and with `rustfft`, and of the bare real FFT
/// pair on one thread. The least time of each is taken in every turn, and the median of nine turns.
/// `PACE` may name lengths, and `THREADS` the number of threads.
#[test]
#[ignore = "a minute of measuring; run it with --release and --nocapture"]
fn pace() {
    use std::time::{Duration, Instant};
    const TURN: Duration = Duration::from_millis(150);
    let lengths = std::env::var("PACE").unwrap_or("393216 1179648 4718592".into());
    let threads = std::env::var("THREADS").map_or(2, |n| n.parse().unwrap());
    println!("| words | shape | ms | ms, rustfft | ms, bare pair | ratio to it |");
    for length in lengths.split(' ').map(|n| n.parse::<usize>().unwrap()) {
        let layout = WordLayout::new(tightest(length), length);
        let shape = Shape::ranked(length / 2, 1)[0];
        let other: Box<dyn Transform> = if length < threshold::ROW_COLUMN {
            Box::new(Whole::new(layout))
        } else {
            let rows = RowColumn::suitable_rows(length);
            Box::new(RowColumn::new(layout, rows, threads).unwrap())
        };
        let tiled: Box<dyn Transform> = Box::new(Tiled::new(layout, shape, threads).unwrap());
        let mut transforms = [tiled, other];
        for transform in &mut transforms {
            transform.load(&vec![3; length]);
        }
        let mut times = [const { vec![] }; 3];
        for _ in 0..9 {
            for (transform, times) in transforms.iter_mut().zip(&mut times) {
                let begin = Instant::now();
                let mut least = Duration::MAX;
                while begin.elapsed() < TURN {
                    let lap = Instant::now();
                    transform.square(None);
                    least = least.min(lap.elapsed());
                }
                times.push(least);
            }
            times[2].push(floor::real_fft_pair(length, TURN).unwrap());
        }
        let [ours, rustfft, pair] = times.map(|mut times| {
            times.sort();
            times[4].as_secs_f64() * 1e3
        });
        let [r, c] = [shape.rows, shape.columns].map(|[a, b]| format!("{a}·{b}"));
        println!(
            "| {length} | {r} × {c} | {ours:.3} | {rustfft:.3} | {pair:.3} | {:.3} |",
            ours / pair
        );
    }
}

/// Prints the times of calls of the engine: a squaring inside a long call, calls of 1 and 12
/// squarings, and a product of two registers. `EXPONENTS` may name pairs of exponents and lengths,
/// and `THREADS` the number of threads.
#[test]
#[ignore = "half a minute of measuring; run it with --release and --nocapture"]
fn calls() {
    use std::time::{Duration, Instant};
    let pairs =
        std::env::var("EXPONENTS").unwrap_or("216091:10752 6972593:393216 82589933:4718592".into());
    let threads = std::env::var("THREADS").map_or(2, |n| n.parse().unwrap());
    println!("| exponent | words | µs, squaring | µs, call of 1 | µs, call of 12 | µs, product |");
    for pair in pairs.split(' ') {
        let (p, length) = pair.split_once(':').unwrap();
        let (p, length): (u32, usize) = (p.parse().unwrap(), length.parse().unwrap());
        let mut engine = Fp64.build(p, length, options(threads)).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for reg in 0..3 {
            engine.write(reg, &random(p, &mut rng), Shift::ZERO).unwrap();
        }
        let long = (400_000_000 / length as u64).clamp(60, 20_000);
        let mut least = [Duration::MAX; 4];
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(8) {
            for (least, n) in least.iter_mut().zip([long, 1, 12]) {
                let lap = Instant::now();
                engine.square(0, n, Step::Square, Shift::ZERO).unwrap();
                *least = lap.elapsed().min(*least);
            }
            for _ in 0..4 {
                let lap = Instant::now();
                engine.mul(1, 1, 2).unwrap();
                least[3] = lap.elapsed().min(least[3]);
            }
        }
        let [squarings, one, twelve, product] = least.map(|t| t.as_secs_f64() * 1e6);
        let each = squarings / long as f64;
        println!("| {p} | {length} | {each:.1} | {one:.1} | {twelve:.1} | {product:.1} |");
    }
}

/// Prints the times of squarings with and without the check of every squaring, and of a call of the
/// engine with one squaring. Both engines are measured in turns; the medians of the ratios of eleven
/// turns are printed. `EXPONENTS` may name pairs of exponents and lengths, and `THREADS` the number of
/// threads.
#[test]
#[ignore = "a minute of measuring; run it with --release and --nocapture"]
fn cost_of_the_check() {
    use std::time::Instant;
    let pairs =
        std::env::var("EXPONENTS").unwrap_or("216091:10752 6972593:393216 82589933:4718592".into());
    let threads = std::env::var("THREADS").map_or(2, |n| n.parse().unwrap());
    println!(
        "| exponent | words | µs, squaring | µs, checked | cost | cost, with strides of 0.5 s |"
    );
    for pair in pairs.split(' ') {
        let (p, length) = pair.split_once(':').unwrap();
        let (p, length): (u32, usize) = (p.parse().unwrap(), length.parse().unwrap());
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let x = random(p, &mut rng);
        let mut engines = [false, true].map(|check_squarings| {
            let options = BuildOptions { check_squarings, ..options(threads) };
            let mut engine = Fp64.build(p, length, options).unwrap();
            engine.write(0, &x, Shift::ZERO).unwrap();
            engine
        });
        let long = (150_000_000 / length as u64).clamp(20, 20_000);
        let turns: Vec<[[f64; 2]; 2]> = (0..11)
            .map(|_| {
                engines.each_mut().map(|engine| {
                    let [one, many] = [1, 1 + long].map(|n| {
                        let lap = Instant::now();
                        engine.square(0, n, Step::SquareMinusTwo, Shift::ZERO).unwrap();
                        lap.elapsed().as_secs_f64() * 1e6
                    });
                    // A squaring inside a call, and a call of half a second.
                    let each = (many - one) / long as f64;
                    [each, each * (1.0 + (one - each) / 5e5)]
                })
            })
            .collect();
        let median = |of: &dyn Fn(&[[f64; 2]; 2]) -> f64| {
            let mut all: Vec<f64> = turns.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let (plain, checked) = (median(&|t| t[0][0]), median(&|t| t[1][0]));
        let [inside, strides] =
            [0, 1].map(|k| 100.0 * median(&|t: &[[f64; 2]; 2]| t[1][k] / t[0][k]) - 100.0);
        println!("| {p} | {length} | {plain:.1} | {checked:.1} | {inside:.1} % | {strides:.1} % |");
    }
}
