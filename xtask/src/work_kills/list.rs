//! The work list that is processed while the program is killed, and its expected results.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use warpint_arith::primes;

/// A random work list of thirty lines, including lines that are added during the work.
pub(super) struct List {
    pub(super) at_first: Vec<String>,
    pub(super) by_file: Vec<String>,
    pub(super) by_command: Vec<String>,
    pub(super) malformed: Vec<String>,
    /// The names and contents of the files from which certifications start.
    pub(super) starts: Vec<(String, Vec<u8>)>,
}

impl List {
    pub(super) fn new(rng: &mut ChaCha8Rng, below: u64) -> Self {
        let mut id =
            || (0..32).map(|_| format!("{:X}", rng.random_range(0..16))).collect::<String>();
        let ids: Vec<String> = (0..10).map(|_| id()).collect();
        let certified = [prime(rng, below), prime(rng, 5_000)];
        let starts = certified.map(|p| (format!("M{p}.cert"), residue(rng, p))).to_vec();
        let mut prime = |below: u64| prime(rng, below);
        let (twice, factor) = with_factor(|| prime(below));
        let (small, small_factor) = with_factor(|| prime(5_000));
        let mut work = vec![
            // One number tested in all four ways, and its cofactor, which has its own proof.
            format!("PRP={},1,2,{twice},-1,70,0", ids[0]),
            format!("PRPDC={},1,2,{twice},-1,70,0,3,5", ids[1]),
            format!("Test={},{twice},70,1", ids[2]),
            format!("B1=1000,B2=20000;DoubleCheck={},{twice},70,1", ids[3]),
            format!("PRP={},1,2,{},-1", ids[4], prime(5_000)),
            format!("Test={},{}", ids[5], prime(5_000)),
            format!("PRP={},1,2,{twice},-1,70,0,3,5,\"{factor}\"", ids[6]),
            format!("PRPDC={},1,2,{small},-1,\"{small_factor}\"", ids[7]),
            // A certification as long as a test, and a short one.
            format!("Cert={},1,2,{},-1,{}", ids[8], certified[0], certified[0]),
            format!("Cert={},1,2,{},-1,{}", ids[9], certified[1], certified[1] / 8),
        ];
        while work.len() < 20 {
            let small = work.len() < 12;
            let p = prime(if small { 5_000 } else { below });
            work.push(match work.len() % 4 {
                0 => format!("PRP=N/A,1,2,{p},-1,70.5,1.3,3,1"),
                1 => format!("PRPDC=1,2,{p},-1"),
                // Without the bits, a small factor would end the test.
                2 => format!("Test={p},70"),
                _ => format!("DoubleCheck=N/A,{p},70,1"),
            });
            // Without IDs, equal lines would correctly share one result.
            let mut exponents: Vec<_> = work.iter().filter_map(|line| expected(line)).collect();
            exponents.sort();
            exponents.dedup();
            if exponents.len() < work.len() {
                work.pop();
            }
        }
        work.shuffle(rng);
        let by_file = work.split_off(18);
        let by_command = work.split_off(16);
        let malformed = [
            "nonsense",
            "PRP=1,2,9689",
            "Test=FEEE9DCD59A0855711265C1165C4C69Z,9689",
            "PRP=1,2,9689,-1,\"31",
            "PPR=1,2,9689,-1",
        ]
        .map(str::to_owned)
        .to_vec();
        let others = [
            "# a comment",
            "",
            "Pminus1=N/A,1,2,9689,-1,1000,0",
            "Factor=N/A,9689,60,61",
            "PRP=3,2,9689,-1",
        ];
        let mut at_first = work;
        at_first.extend(malformed.iter().cloned());
        at_first.extend(others.map(str::to_owned));
        at_first.shuffle(rng);
        // A list that does not end in a newline cannot end in a blank line.
        if at_first.last().is_some_and(String::is_empty) {
            at_first.rotate_right(1);
        }
        Self { at_first, by_file, by_command, malformed, starts }
    }

    pub(super) fn all(&self) -> Vec<String> {
        [self.at_first.clone(), self.by_file.clone(), self.by_command.clone()].concat()
    }

    /// Returns the lines that must remain in the work list at the end, because they are not
    /// assignments for this program.
    pub(super) fn kept(&self) -> Vec<String> {
        self.at_first.iter().filter(|line| expected(line).is_none()).cloned().collect()
    }
}

/// Returns a random prime p with 1,000 ≤ p < `below`.
fn prime(rng: &mut ChaCha8Rng, below: u64) -> u64 {
    loop {
        let p = rng.random_range(1_000..below);
        if primes::is_prime(p) {
            return p;
        }
    }
}

/// Draws primes p until M_p has a factor 2kp + 1 with k < 2,000. Returns p and the factor.
fn with_factor(mut prime: impl FnMut() -> u64) -> (u64, u64) {
    loop {
        let p = prime();
        let factor = (1..2_000).map(|k| 2 * k * p + 1).find(|&q| primes::pow_mod(2, p, q) == 1);
        if let Some(factor) = factor {
            return (p, factor);
        }
    }
}

/// Returns a random number below 2^p − 1, as ⌈p/8⌉ little-endian bytes.
fn residue(rng: &mut ChaCha8Rng, p: u64) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..p.div_ceil(8)).map(|_| rng.random()).collect();
    // The last byte has p mod 8 bits; not all of them are ones.
    if let Some(last) = bytes.last_mut() {
        *last &= (1 << (p % 8)) - 1;
        *last &= !1;
    }
    bytes
}

/// Returns the exponent, the work type and the assignment ID of the result that a line of the work
/// list must have, as a text. Returns `None` if the line must have no result. Does not use the
/// program's parser, and supports only lines as in [`List`].
pub(super) fn expected(line: &str) -> Option<String> {
    let line = line.rsplit(';').next()?;
    let (keyword, rest) = line.split_once('=')?;
    let fields: Vec<&str> = rest.split(',').collect();
    let id = fields[0].len() == 32 && fields[0].bytes().all(|b| b.is_ascii_hexdigit());
    let aid = if id { fields[0] } else { "none" };
    let fields = if id || fields[0] == "N/A" { &fields[1..] } else { &fields[..] };
    let (worktype, p) = match (keyword, fields) {
        ("PRP" | "PRPDC", ["1", "2", p, "-1", rest @ ..]) => {
            // A known factor is quoted, as the last field.
            let quoted = rest.iter().position(|field| field.contains('"'));
            let factor = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
            let sound = match quoted {
                Some(at) if at + 1 == rest.len() => {
                    rest[at].strip_prefix('"')?.strip_suffix('"').is_some_and(factor)
                }
                quoted => quoted.is_none(),
            };
            (sound.then_some("PRP-3")?, p)
        }
        ("Cert", ["1", "2", p, "-1", _]) => ("Cert", p),
        ("Test" | "DoubleCheck", [p, ..]) if p.bytes().all(|b| b.is_ascii_digit()) => ("LL", p),
        _ => return None,
    };
    Some(format!("{p} {worktype} {aid}:"))
}
