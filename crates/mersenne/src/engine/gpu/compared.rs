//! Comparisons of engines for numbers k·b^n ± 1 with exact integers, for tests.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::engine::plain::Plain;
use crate::engine::{BuildOptions, Engine, EngineError, EngineFamily, Health, Step};
use crate::{Number, Residue, Shift};

/// Returns residues near 0 and N, and two random ones.
pub(in crate::engine) fn corners(number: Number, rng: &mut ChaCha8Rng) -> Vec<Residue> {
    let small = |v| Residue::from_u64(number, v);
    let near = (0..4).flat_map(|v| [small(v), small(0).minus(v)]);
    let mut random = || (0..number.limbs()).map(|_| rng.random()).collect::<Vec<u64>>();
    let random = [random(), random()].map(|limbs| Residue::from_limbs(number, &limbs));
    near.chain(random).collect()
}

/// Compares squarings of the given residues, also with the factors `multipliers`, products and sums with those of
/// exact integers. `squarings` follow each other for each residue, and 150 for the last one. Returns the health of
/// the engine.
pub(in crate::engine) fn compare(
    family: &dyn EngineFamily,
    number: Number,
    length: usize,
    residues: &[Residue],
    multipliers: &[u32],
    squarings: u64,
) -> Health {
    let mut engine = family.build_for(number, length, BuildOptions::new(3, 1)).unwrap();
    let mut oracle = Plain.build_for(number, 1, BuildOptions::new(3, 1)).unwrap();
    assert_eq!(engine.number(), number);
    assert!(engine.is_intact());
    let mut both = [engine.as_mut(), oracle.as_mut()];
    let mut check = |what: &str, work: &dyn Fn(&mut dyn Engine) -> Result<(), EngineError>| {
        let [found, expected] = both.each_mut().map(|engine| {
            let result = work(*engine).and_then(|()| engine.read(0, Shift::ZERO));
            result.unwrap_or_else(|e| panic!("{number}, {length} words, {what}: {e}"))
        });
        assert!(found == expected, "{number}, {length} words: {what}");
    };
    for (i, x) in residues.iter().enumerate() {
        let squares = |n, step| move |e: &mut dyn Engine| e.square(0, n, step, Shift::ZERO);
        check(&format!("residue {i}"), &|e| e.write(0, x, Shift::ZERO));
        check(&format!("square of residue {i}"), &squares(1, Step::Square));
        check(&format!("residue {i}, minus 2"), &squares(2, Step::SquareMinusTwo));
        for &m in multipliers {
            check(&format!("residue {i}, times {m}"), &squares(2, Step::SquareTimes(m)));
        }
        check(&format!("residue {i}, minus 2 at once"), &|e| {
            e.write(0, x, Shift::ZERO)?;
            e.square(0, 3, Step::SquareMinusTwo, Shift::ZERO)
        });
        check(&format!("residue {i}, sums"), &|e| {
            e.write(1, x, Shift::ZERO)?;
            e.add(2, 0, 1)?;
            e.sub(0, 2, 0)?;
            e.add(0, 0, 2)?;
            e.sub(1, 1, 0)?;
            e.copy(0, 1)
        });
        check(&format!("residue {i}, product"), &|e| e.mul(0, 0, 2));
        check(&format!("residue {i}, squares"), &squares(squarings, Step::Square));
    }
    check("sum of sums", &|e| (0..5).try_for_each(|_| e.add(0, 0, 0)));
    check("product of sums", &|e| e.mul(0, 0, 1));
    check("squares", &|e| e.square(0, 150, Step::Square, Shift::ZERO));
    engine.finish().unwrap();
    engine.health()
}
