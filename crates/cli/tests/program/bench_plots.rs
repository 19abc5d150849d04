//! Tests of `--plot` of the benchmarks whose other tests do not draw.

use std::fs;
use std::path::Path;

use crate::common::warpint;
use roxmltree::Document;

const SVG: &str = "http://www.w3.org/2000/svg";

/// Returns the title of a chart, and the tooltips of its markers, bars or dots.
fn drawn(path: &Path) -> (String, Vec<String>) {
    let text = fs::read_to_string(path).unwrap();
    let svg = Document::parse(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    let text_of = |node: roxmltree::Node<'_, '_>| node.text().unwrap().to_owned();
    let of =
        |name: &'static str| svg.root_element().children().find(|n| n.has_tag_name((SVG, name)));
    assert!(of("desc").unwrap().text().unwrap().contains("chart."));
    let values = svg.descendants().filter(|n| ["circle", "rect"].contains(&n.tag_name().name()));
    let tooltips = values.map(|value| text_of(value.first_element_child().unwrap())).collect();
    (text_of(of("title").unwrap()), tooltips)
}

#[test]
fn every_bench_draws_its_figures() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.svg");
    for (line, title, begins) in [
        (
            "bench jacobi 61 9689 --threads 1",
            "Time of a Jacobi symbol modulo 2^p − 1, ",
            &["M61, 1 thread: ", "M9689, 1 thread: "][..],
        ),
        (
            "bench device --device sim",
            "Rates of a device, simulator",
            &[
                "19.5 KiB, in place: ",
                "19.5 KiB, between buffers: ",
                "FP64: ",
                "FP32: ",
                "products: ",
            ],
        ),
        (
            "bench mersenne --device sim --same-plan=256",
            "Squarings by the same plans, simulator",
            &["fp64, ", "goldilocks, "],
        ),
        (
            "collatz bench --device cpu --classes 0 --interval-bits 14 --delays",
            "Collatz, ",
            &[
                "2^14 from 2^70, sieve: ",
                "Barina 2021, on 16 CPU cores: 6.80e10",
                "delays from 2^40: ",
            ],
        ),
    ] {
        fs::write(&file, "old").unwrap();
        let ran = warpint(dir.path(), &format!("{line} --json --plot x.svg"));
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
        assert!(ran.json().is_object(), "{line}: {ran:?}");
        let (drawn_title, tooltips) = drawn(&file);
        assert!(drawn_title.starts_with(title), "{drawn_title}");
        assert!(tooltips.len() >= begins.len(), "{tooltips:?}");
        for (tooltip, begin) in tooltips.iter().zip(begins) {
            assert!(tooltip.starts_with(begin), "{begin}: {tooltips:?}");
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "{line}");
    }
}

#[test]
fn a_chart_that_cannot_be_written_is_refused_first() {
    let dir = tempfile::tempdir().unwrap();
    for line in [
        "bench jacobi",
        "bench device --device sim",
        "bench checks --device cpu",
        "bench mersenne --device sim --same-plan",
        "collatz bench --device cpu",
    ] {
        for (path, says) in [
            ("nowhere/x.svg", "cannot write nowhere/x.svg: "),
            (".", "cannot write .: it is not"),
            ("x.png", "plots are SVG images, which x.png does not say: write --plot x.svg"),
        ] {
            let ran = warpint(dir.path(), &format!("{line} --plot {path}"));
            assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {ran:?}");
            assert!(ran.error().starts_with(says), "{line}: {ran:?}");
        }
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "a refused request leaves nothing");
}
