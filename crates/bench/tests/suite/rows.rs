//! Tests of the rows of small benchmarks on the CPU, and of requests that are refused.

use warpint_arith::gfn::PRIMES;
use warpint_bench::batch::{self, Methods, Operation};
use warpint_bench::bigprime::{self, Way};
use warpint_bench::{BenchError, collatz, mersenne, ntt};
use warpint_collatz::open::Places;
use warpint_collatz::sieve::Step;
use warpint_collatz::sizes::{Sizes, Tunable, TunedSizes};
use warpint_collatz::{Method, Unwatched};
use warpint_device::{CPU, DeviceChoice};
use warpint_integer::{Operation as Listed, Width};
use warpint_mersenne::{Exponent, PlanRequest, StopToken, TunedTimes};

#[test]
fn batches_have_a_row_for_each_operation_and_width() {
    let request = batch::Request {
        operations: vec![Operation::Listed(Listed::Divide), Operation::Listed(Listed::Add)],
        bits: vec![Width::new(64).unwrap(), Width::new(256).unwrap()],
        count: Some(20),
        seed: Some(7),
        ..batch::Request::default()
    };
    let rows = batch::Rows::new(&request, None).unwrap();
    assert!(rows.fewer().is_empty());
    let mut bench = batch::Bench::new(&request, rows, None).unwrap();
    while bench.measure_next().unwrap().is_some() {}
    let measured = bench.measured();
    let machine = &measured.machine;
    assert_eq!((machine.device.as_str(), measured.seed, machine.driver.as_ref()), (CPU, 7, None));
    let of = |row: &batch::Row| (row.operation, row.bits, row.count, row.product_ns.is_some());
    let found: Vec<_> = measured.rows.iter().map(of).collect();
    let wanted =
        [("add", 64, false), ("add", 256, false), ("divrem", 64, true), ("divrem", 256, true)];
    assert_eq!(found, wanted.map(|(name, bits, compared)| (name, bits, 20, compared)));
    let json = serde_json::to_value(measured).unwrap();
    assert!(json["rows"][0]["ns-per-operation"].as_f64().unwrap() > 0.0, "{json}");
    assert!(measured.chart(false).to_string().contains("divrem: memory floor"));

    let by_method = batch::Request { method: Some(Methods::All), ..request.clone() };
    let refused = batch::Rows::new(&by_method, None).unwrap_err();
    assert!(matches!(refused, BenchError::Batch(batch::RequestError::MethodOnCpu)), "{refused}");
}

#[test]
fn big_primes_have_a_row_for_each_case() {
    let request = bigprime::Request::new(&PRIMES[..2], [3, 5, 3].into_iter(), None, Some(1));
    let mut bench = bigprime::Bench::new(&request.unwrap(), None).unwrap();
    let cases = bench.cases();
    assert_eq!(cases.iter().map(|case| case.log2).collect::<Vec<_>>(), [3, 5, 3, 5]);
    for case in cases {
        let row = bench.measure(case).unwrap();
        assert!(row.big.is_some() && row.small.is_none() && row.checked.inverse, "{row:?}");
    }
    let measured = bench.finish();
    assert!(measured.rows.len() == 4 && measured.crossovers.is_empty());

    let refused = |lengths: &[u32]| {
        let lengths = lengths.iter().copied();
        bigprime::Request::new(&[PRIMES[2]], lengths, Some(Way::Small), None)
    };
    let most = PRIMES[2].two_adicity();
    let too_long = bigprime::RequestError::TooLong { form: PRIMES[2], log2: most + 1, most };
    assert_eq!(refused(&[most + 1]).map(drop), Err(too_long));
    let on_cpu = bigprime::Bench::new(&refused(&[4]).unwrap(), None).map(drop).unwrap_err();
    let expected = bigprime::RequestError::SmallOnCpu;
    assert!(matches!(on_cpu, BenchError::Bigprime(e) if e == expected), "{on_cpu}");
}

#[test]
fn transforms_modulo_a_50_bit_prime_are_measured_too() {
    let request = ntt::Request::new([3, 7].into_iter(), None, None, Some(1)).unwrap();
    let request = request.modulus(ntt::Modulus::F50).odd(3).unwrap();
    let mut bench = ntt::Bench::new(&request, None).unwrap();
    for case in bench.cases() {
        let row = bench.measure(case).unwrap();
        assert!(row.transforms.as_ref().unwrap().outputs_compared > 0, "{row:?}");
    }
    assert_eq!((bench.measured().field, bench.measured().rows.len()), ("f50", 4));
}

#[test]
fn transforms_modulo_a_64_bit_prime_have_a_row_for_each_length() {
    let request = ntt::Request::new([3, 7, 3].into_iter(), None, Some(5), Some(2)).unwrap();
    let mut bench = ntt::Bench::new(&request, None).unwrap();
    for case in bench.cases() {
        let row = bench.measure(case).unwrap();
        let measured = row.transforms.as_ref().unwrap();
        assert!(measured.outputs_compared > 0 && measured.floors.is_none(), "{row:?}");
        assert!(measured.gpoints_per_second > 0.0 && row.missing.is_none(), "{row:?}");
        assert_eq!((measured.forward.runs, measured.inverse.runs), (2, 2));
    }
    let of = |row: &ntt::Row| (row.log2, row.order, row.batch);
    let rows: Vec<_> = bench.measured().rows.iter().map(of).collect();
    assert_eq!(rows, [(3, "natural", 4), (7, "natural", 1)]);

    let request = ntt::Request::new([3].into_iter(), Some(ntt::Orders::Both), None, None);
    let on_cpu = ntt::Bench::new(&request.unwrap(), None).map(drop).unwrap_err();
    let expected = ntt::RequestError::ReversedOnCpu;
    assert!(matches!(on_cpu, BenchError::NttRequest(e) if e == expected), "{on_cpu}");
}

fn interval() -> collatz::Request {
    collatz::Request {
        method: Some(Method::Table),
        places: Places::Cpu,
        sizes: Sizes::default(),
        below_bits: 71,
        classes: 0,
        class_bits: None,
        seed: 1,
        interval_bits: Some(16),
        from: 1 << 70,
    }
}

#[test]
fn verification_has_a_row_or_is_stopped() {
    let tuned = TunedSizes::of(None);
    let bench = collatz::Bench::new(interval(), &tuned).unwrap();
    let rows = bench.measure(&Unwatched).unwrap().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].what.as_str(), rows[0].numbers.as_str()), ("2^16 from 2^70", "65536"));
    let stop = StopToken::new();
    stop.stop();
    assert!(bench.measure(&stop).unwrap().is_none());

    let refused = |request| match collatz::Bench::new(request, &tuned).map(drop) {
        Err(BenchError::CollatzRequest(e)) => e,
        other => panic!("{other:?}"),
    };
    let sizes = Sizes { step: Step::new(12), ..Sizes::default() };
    assert_eq!(
        refused(collatz::Request { sizes, ..interval() }),
        collatz::RequestError::OtherMethod { what: Tunable::Sieve, method: Method::Sieve }
    );
    let from = u128::MAX >> 16 << 16;
    assert_eq!(
        refused(collatz::Request { from, ..interval() }),
        collatz::RequestError::Beyond { bits: 16, from }
    );
}

#[test]
fn squarings_have_a_row_for_each_plan() {
    let request = PlanRequest {
        device: DeviceChoice::Cpu,
        engine: Some("fp64"),
        threads: Some(1),
        ..PlanRequest::default()
    };
    let p = Exponent::new(1_279).unwrap();
    let plans = mersenne::plans(p, &request, &TunedTimes::of(None)).unwrap();
    let mut measured = mersenne::on_cpu::Measured::new(1);
    let rows = measured.measure(&plans).unwrap();
    assert_eq!((rows.len(), rows[0].plan.exponent, rows[0].plan.engine), (1, 1_279, "fp64"));
    assert!(rows[0].us_per_squaring > 0.0 && rows[0].fft_floor_us.is_some());
    let too_short = mersenne::checks::long_enough(&plans[0]).unwrap_err();
    assert!(matches!(too_short, BenchError::TooShort { exponent: 1_279, .. }), "{too_short}");
}
