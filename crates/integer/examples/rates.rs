use rayon::prelude::*;
use warpint_device::*;
use warpint_integer::gpu::*;
fn main() {
    let device = Device::open("cuda").unwrap();
    let gpu = Gpu::new(&device);
    let words = 64 << 20;
    let fill = |seed: u64| -> Vec<u32> {
        (0..words as u64)
            .into_par_iter()
            .map(|i| {
                let mut x = (i + seed).wrapping_mul(0x9e3779b97f4a7c15);
                x ^= x >> 29;
                x = x.wrapping_mul(0xbf58476d1ce4e5b9);
                x ^= x >> 32;
                x = x.wrapping_mul(0x94d049bb133111eb);
                (x >> 29) as u32
            })
            .collect()
    };
    let (ha, hb) = (fill(1), fill(1 << 40));
    let (a, b) = (device.upload(&ha).unwrap(), device.upload(&hb).unwrap());
    let out = device.alloc::<u32>(2 * words + 64).unwrap();
    for spec in std::env::args().skip(1) {
        let f: Vec<&str> = spec.split(':').collect();
        let limbs: usize = f[1].parse().unwrap();
        let mut count = words / limbs;
        if let Some(c) = f.get(3) {
            count = count.min(c.parse().unwrap());
        }
        let oa = Operand { data: &a, limbs, broadcast: false };
        let ob = Operand { data: &b, limbs, broadcast: false };
        let run = || -> Result<(), DeviceError> {
            match f[0] {
                "add" => gpu.add(Sum::Add, oa, ob, count, &out, limbs, None),
                "mul" | "sqr" => {
                    let levels: u32 = f[2].parse().unwrap();
                    let shape =
                        Karatsuba::new(Part::Full, limbs, (f[0] == "mul").then_some(limbs), levels);
                    let Some(shape) = shape else {
                        return Err(DeviceError::NoDevice("no shape".into()));
                    };
                    gpu.karatsuba(&shape, oa, (f[0] == "mul").then_some(ob), count, &out)
                }
                "ntt" | "nsq" => {
                    let primes: usize = f[2].parse().unwrap();
                    let Some(shape) =
                        Ntt::new(Part::Full, limbs, (f[0] == "ntt").then_some(limbs), primes)
                    else {
                        return Err(DeviceError::NoDevice("no shape".into()));
                    };
                    gpu.ntt(&shape, oa, (f[0] == "ntt").then_some(ob), count, &out)
                }
                _ => panic!(),
            }
        };
        let t = std::time::Instant::now();
        let first = run().and_then(|()| device.synchronize());
        if let Err(e) = first {
            println!("{spec} {e}");
            continue;
        }
        let compile = t.elapsed();
        let mut times = device.times(9, |_| run()).unwrap();
        times.sort();
        let ns = times[4].as_secs_f64() * 1e9 / count as f64;
        let outl = if f[0] == "add" { limbs } else { 2 * limbs };
        let ins = if f[0] == "sqr" || f[0] == "nsq" { limbs } else { 2 * limbs };
        let bytes = 4.0 * (ins + outl) as f64;
        println!(
            "{spec:16} bits {:7} {ns:12.4} ns  {:7.0} GB/s  {:7.2} T/s products  first {:.2} s",
            32 * limbs,
            bytes / ns,
            (limbs * limbs) as f64 / ns / 1000.0,
            compile.as_secs_f64()
        );
    }
}
