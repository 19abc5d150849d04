//! Tests of the charts of measurements that take minutes or a GPU.

use std::time::Duration;

use roxmltree::Document;
use warpint_bench::device::Reached;
use warpint_bench::mersenne::checks::Measured;
use warpint_device::{CopyRate, DeviceInfo, Fp64Rate, InRegisters, MeasuredTransforms, Rates};

/// Returns the tooltips of all bars of a chart, and its description.
fn drawn(chart: &impl ToString) -> (Vec<String>, String) {
    let text = chart.to_string();
    let svg = Document::parse(&text).unwrap();
    let of = |name: &'static str| svg.descendants().filter(move |n| n.tag_name().name() == name);
    let tooltip = |bar: roxmltree::Node<'_, '_>| {
        bar.first_element_child().unwrap().text().unwrap().to_owned()
    };
    let bars = of("rect").map(tooltip).collect();
    (bars, of("desc").next().unwrap().text().unwrap().to_owned())
}

fn reached(name: &str) -> Reached {
    let info = DeviceInfo {
        id: "cuda:0".into(),
        name: name.into(),
        compute_capability: (9, 0),
        multiprocessors: 132,
        memory: 1 << 37,
        shared_memory_per_block: 232_448,
        shared_memory_per_multiprocessor: 233_472,
        clock_khz: 1_980_000,
        driver: String::new(),
    };
    let rate = |per_clock: f64| InRegisters {
        per_clock,
        per_second: per_clock * 132.0 * 2e9,
        clock_hz: 2e9,
    };
    let rates = Rates {
        products: rate(4.0),
        transforms: vec![MeasuredTransforms { radix: 16, rate: rate(12.5) }],
        copies: vec![CopyRate { bytes: 32 << 20, in_place: 5.4e12, between: 4.1e12 }],
        kernel_period: Duration::from_nanos(870),
        fp64: Fp64Rate { fp64: 16.7e12, fp32: 29.7e12 },
    };
    Reached::new(&info, &rates)
}

#[test]
fn rates_of_a_device_are_beside_its_data_sheet() {
    let (bars, desc) = drawn(&reached("NVIDIA H200").chart());
    assert_eq!(
        bars,
        [
            "32 MiB, in place: 5400",
            "32 MiB, between buffers: 4100",
            "FP64: 16.70",
            "FP32: 29.70",
            "products: 1056.0, at 2.000 GHz",
            "points·levels, 16 points: 3300.0, at 2.000 GHz",
            "empty kernels: 0.87",
        ]
    );
    for expected in
        ["between buffers 4100 (memory, data sheet: 4800)", "FP32 29.70 (data sheet: 33.5)"]
    {
        assert!(desc.contains(expected), "{desc}");
    }
    let (bars, desc) = drawn(&reached("NVIDIA H200 NVL").chart());
    assert!(bars.len() == 7 && !desc.contains("sheet"), "{desc}");
}

#[test]
fn the_costs_of_checks_are_beside_the_noise() {
    let measured = Measured {
        exponent: 82_589_933,
        engine: "fp64",
        device: "cpu",
        fft_length: 4 << 20,
        squarings: 2_000_000,
        bare_us: [99.0, 101.0],
        checked_us: 99.8,
        saved_us: 100.3,
        checks: 1,
        checkpoints: 3,
        cost_percent: (-0.2, Some(0.3)),
        noise_percent: 0.1,
    };
    let (bars, desc) = drawn(&measured.chart());
    assert_eq!(bars, ["with 1 check: -0.20 %", "with 1 check and 3 checkpoints: +0.30 %"]);
    assert!(
        desc.contains("% of a bare squaring, 100.000 µs, linear axis") && desc.contains(": 0.1)"),
        "{desc}"
    );
    let measured = Measured { checkpoints: 0, cost_percent: (0.2, None), ..measured };
    assert_eq!(drawn(&measured.chart()).0.len(), 1);
}
