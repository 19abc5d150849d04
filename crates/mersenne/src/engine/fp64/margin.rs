//! margin
pub(super) fn bits(p: u32, n: usize) -> f64 {
    (0.5 / (tail_quantile(80.0) * deviation(p, n))).log2()
}

pub(super) fn deviation(p: u32, n: usize) -> f64 {
    let beta = f64::from(p) / n as f64;
    let nf = n as f64;
    0.6 * 2f64.powi(-53) * nf.sqrt() * 4f64.powf(beta) * nf.log2().sqrt()
}

/// The z above which a Gaussian variable has an absolute value with probability 2^−bits
pub(super) fn tail_quantile(bits: f64) -> f64 {
    let target = bits * std::f64::consts::LN_2;
    // ln(√(2/π)/z · e^(−z²/2)) = −target
    let mut z = (2.0 * target).sqrt();
    for _ in 0..50 {
        let w = 2.0 * (target - z.max(0.5).ln()) + (2.0 / std::f64::consts::PI).ln();
        z = w.max(0.25).sqrt();
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fp64::Fp64;
    use crate::engine::{BuildOptions, EngineFamily, Step};
    use crate::{Residue, Shift};
    use rand::{RngExt, SeedableRng};

    #[test]
    #[ignore = "prints a table"]
    fn calibration() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
        println!("N  beta  mean  max  sigma/model");
        for n in [
            8usize,
            10,
            14,
            16,
            30,
            64,
            70,
            128,
            256,
            280,
            1024,
            1080,
            4096,
            5120,
            16384,
            20480,
            32768,
            35840,
            65536,
            98304,
            131072,
            344064,
            393216,
            368640,
            1 << 20,
            1 << 22,
        ] {
            for below in [0.0, 2.0] {
                let mut beta = 25.5 - below - 0.5 * (n as f64).log2();
                if below == 2.0 {
                    beta -= 2.0
                }
                while n as f64 * beta < 64.0 {
                    beta += 0.25
                }
                let beta = beta.min(24.5);
                let p = (n as f64 * beta) as u32;
                let mut e = Fp64.build(p, n, BuildOptions { registers: 1, threads: 2 }).unwrap();
                let products = ((1 << 24) / n).clamp(10, 20000);
                let mut ok = 0;
                for _ in 0..products.min(200).max(1) {
                    let x: Vec<u64> =
                        (0..(p as usize).div_ceil(64)).map(|_| rng.random()).collect();
                    e.write(0, &Residue::from_limbs(p, &x), Shift::ZERO).unwrap();
                    if e.square(0, (products as u64).div_ceil(200), Step::Square, Shift::ZERO)
                        .is_ok()
                    {
                        ok += 1
                    }
                }
                let r = e.health().round_off.unwrap();
                let z = tail_quantile((n as f64).log2() + 0.8);
                println!(
                    "{n:8} {beta:6.3} mean {:.5} max {:.5} z {z:.2} c {:.4} ok {ok}",
                    r.mean,
                    r.max,
                    r.mean / z / deviation(p, n)
                );
            }
        }
    }
}
