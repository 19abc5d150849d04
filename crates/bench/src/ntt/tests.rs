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
    assert_eq!(too_long, RequestError::TooLong { log2: 31 });
    for orders in [Orders::BitReversed, Orders::Both] {
        let refused = request(&[3], Some(orders), None).cases(None);
        assert_eq!(refused, Err(RequestError::ReversedOnCpu));
    }
    for (log2, batch) in [(1, 30), (30, 37)] {
        let refused = request(&[log2], None, Some(batch)).cases(None);
        assert_eq!(refused, Err(RequestError::Batch { batch, log2 }));
    }
    assert!(request(&[2, 30], None, Some(30)).cases(None).is_ok());
}

#[test]
fn floors_are_amounts_over_rates() {
    let case = Case { log2: 10, order: Order::Natural, batch: 4 };
    // 4·2^10 points, 3 passes of 16 bytes each, 10 levels.
    let floors = Floors::new(case, 3, 50.0, 1e10, 4.096e9);
    assert_eq!((floors.bytes, floors.points_levels), (196_608, 40_960));
    let near = |x: f64, y: f64| (x / y - 1.0).abs() < 1e-12;
    assert!(near(floors.memory_floor_us, 19.6608) && near(floors.arithmetic_floor_us, 10.0));
    assert!(near(floors.largest_us(), 19.6608) && near(floors.forward_over_floor, 50.0 / 19.6608));
    let by_arithmetic = Floors::new(case, 3, 50.0, 1e12, 4.096e9);
    assert!(near(by_arithmetic.forward_over_floor, 5.0), "{by_arithmetic:?}");

    let times = || Times::new(vec![Duration::from_micros(2)]);
    assert!(near(Transforms::new(case, times(), times(), 3).gpoints_per_second, 2.048));
}
