use super::*;
use crate::columns::Times;
use std::time::Duration;

fn request(lengths: &[u32], orders: Option<Orders>, batch: Option<u32>) -> Request {
    Request::new(lengths.iter().copied(), orders, batch, None).unwrap()
}

#[test]
fn a_request_has_a_case_for_each_length_and_order() {
    let on_cpu = request(&[], None, None).cases(None).unwrap();
    let lengths: Vec<_> = on_cpu.iter().map(|case| case.log2).collect();
    assert_eq!(lengths, [10, 12, 14, 16, 18, 20]);
    assert!(on_cpu.iter().all(|case| case.order == Order::Natural && case.batch == 1));

    let device = Device::simulator().unwrap();
    let of = |case: &Case| (case.log2, case.order, case.batch);
    let cases = request(&[5, 3, 5], None, Some(4)).cases(Some(&device)).unwrap();
    let expected = [
        (5, Order::Natural, 1),
        (5, Order::BitReversed, 1),
        (3, Order::Natural, 2),
        (3, Order::BitReversed, 2),
    ];
    assert_eq!(cases.iter().map(of).collect::<Vec<_>>(), expected);
    assert_eq!(cases[1].to_string(), "2^5 points in bit-reversed order");
    let reversed = request(&[3], Some(Orders::BitReversed), None).cases(Some(&device)).unwrap();
    assert_eq!(reversed.iter().map(of).collect::<Vec<_>>(), [(3, Order::BitReversed, 1)]);
}

#[test]
fn impossible_requests_are_refused() {
    let too_long = Request::new([3, 31].into_iter(), None, None, None).unwrap_err();
    assert_eq!(too_long, RequestError::TooLong { odd: 1, log2: 31 });
    for orders in [Orders::BitReversed, Orders::Both] {
        let refused = request(&[3], Some(orders), None).cases(None);
        assert_eq!(refused, Err(RequestError::ReversedOnCpu));
    }
    for (log2, batch) in [(1, 30), (30, 37)] {
        let refused = request(&[log2], None, Some(batch)).cases(None);
        assert_eq!(refused, Err(RequestError::Batch { batch, log2 }));
    }
    assert!(request(&[2, 30], None, Some(30)).cases(None).is_ok());
    let odd = |log2| request(&[3, log2], None, Some(6)).odd(5);
    assert_eq!(odd(28).unwrap_err(), RequestError::TooLong { odd: 5, log2: 28 });
    assert_eq!(
        odd(28).unwrap_err().to_string().split(':').next(),
        Some("no transform has 5·2^28 points")
    );
    let odd = odd(27).unwrap();
    assert_eq!(odd.cases(None), Err(RequestError::OddOnCpu));
    // Vectors of 5·2^3 and 5·2^27 points, in batches of at most 2^6 points or one vector.
    let cases = odd.cases(Some(&Device::simulator().unwrap())).unwrap();
    let of: Vec<_> = cases.iter().map(|case| (case.length(), case.batch)).collect();
    assert_eq!(of, [(40, 1), (40, 1), (5 << 27, 1), (5 << 27, 1)]);
    assert_eq!(cases[0].to_string(), "5·2^3 points in natural order");
}

#[test]
fn floors_are_amounts_over_rates() {
    let modulus = Modulus::F50;
    let case = Case { modulus, odd: 1, log2: 10, order: Order::Natural, batch: 4 };
    // 4·2^10 points, 3 passes of 16 bytes each, 10 levels.
    let floors = Floors::new(case, 3, 50.0, 1e10, 4.096e9);
    assert_eq!((floors.bytes, floors.points_levels), (196_608, 40_960));
    let near = |x: f64, y: f64| (x / y - 1.0).abs() < 1e-12;
    assert!(near(floors.memory_floor_us, 19.6608) && near(floors.arithmetic_floor_us, 10.0));
    assert!(near(floors.largest_us(), 19.6608) && near(floors.forward_over_floor, 50.0 / 19.6608));
    let by_arithmetic = Floors::new(case, 3, 50.0, 1e12, 4.096e9);
    assert!(near(by_arithmetic.forward_over_floor, 5.0), "{by_arithmetic:?}");

    // 3·2^10 points have 12 levels.
    let odd = Floors::new(Case { odd: 3, ..case }, 3, 50.0, 1e10, 4.096e9);
    assert_eq!((odd.bytes, odd.points_levels), (3 * 196_608, 4 * 3072 * 12));

    let times = || Times::new(vec![Duration::from_micros(2)]);
    assert!(near(Transforms::new(case, times(), times(), 3).gpoints_per_second, 2.048));
}
