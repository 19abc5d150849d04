//! The fastest ways to square that were found on GPUs.
//!
//! A table of a product (`tables/nvidia-h200.txt`) has a line for every engine and length: words,
//! microseconds of a squaring, and the variant, as `warpint tune --lengths 64K..36M --table FILE`
//! writes them. Its times hold on that product only; `fp64` takes its variants first elsewhere too.

use std::fmt::Write;
use std::sync::LazyLock;
use std::time::Duration;

/// A product of which there is a table.
struct Product {
    /// As its driver names it.
    name: &'static str,
    text: &'static str,
}

const PRODUCTS: [Product; 1] =
    [Product { name: "NVIDIA H200", text: include_str!("../../tables/nvidia-h200.txt") }];

/// The fastest variant of an engine at a length.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// The family.
    pub engine: String,
    /// N, words.
    pub length: usize,
    /// The time of a squaring.
    pub time: Duration,
    /// Its name among the family's variants.
    pub variant: String,
}

static TABLES: LazyLock<Vec<(&str, Vec<Known>)>> = LazyLock::new(|| {
    let table = |product: &Product| product.text.lines().filter_map(Known::parse).collect();
    PRODUCTS.iter().map(|product| (product.name, table(product))).collect()
});

impl Known {
    /// `fp64 65536 6.36 128x256 4.8.4/8.8.4 2/4 1 128.128`; `None` for a comment.
    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.splitn(4, ' ');
        let engine = parts.next()?.to_owned();
        let length = parts.next()?.parse().ok()?;
        let microseconds: f64 = parts.next()?.parse().ok()?;
        let time = Duration::try_from_secs_f64(microseconds * 1e-6).ok()?;
        Some(Self { engine, length, time, variant: parts.next().unwrap_or_default().to_owned() })
    }
}

/// A table in the form in which it ships; `title` becomes its first line.
#[must_use]
pub fn table(title: &str, ways: &[Known]) -> String {
    let mut text = format!("# {title}: engine, words, microseconds a squaring, variant\n");
    for Known { engine, length, time, variant } in ways {
        let microseconds = time.as_secs_f64() * 1e6;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{engine} {length} {microseconds:.2} {variant}");
    }
    text
}

/// What is known of an engine and length on a product.
#[must_use]
pub fn on(product: &str, engine: &str, length: usize) -> Option<&'static Known> {
    let (_, ways) = TABLES.iter().find(|(name, _)| *name == product)?;
    ways.iter().find(|way| way.engine == engine && way.length == length)
}

/// Whether there is a table of a product.
pub(super) fn is_known(product: &str) -> bool {
    TABLES.iter().any(|(name, _)| *name == product)
}

/// The variants that were the fastest of an engine and length on any product.
pub(super) fn variants(engine: &str, length: usize) -> impl Iterator<Item = &'static str> {
    let of = move |way: &&Known| way.engine == engine && way.length == length;
    let ways = TABLES.iter().flat_map(|(_, ways)| ways);
    ways.filter(of).map(|way| way.variant.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_a_table_is_read() {
        for Product { name, text } in PRODUCTS {
            let ways: Vec<Known> = text.lines().filter_map(Known::parse).collect();
            let title = text.lines().next().unwrap();
            let (title, _) = title.trim_start_matches("# ").split_once(": engine").unwrap();
            assert!(title.starts_with(name), "{title}");
            assert_eq!(table(title, &ways), text);
            assert!(ways.len() > 80);
            assert!(ways.is_sorted_by_key(|way| (way.engine.clone(), way.length)));
        }
    }

    #[test]
    fn a_way_is_found_by_engine_and_length() {
        let way = on("NVIDIA H200", "fp64", 1 << 22).unwrap();
        assert_eq!((way.engine.as_str(), way.length), ("fp64", 1 << 22));
        assert!(variants("fp64", 1 << 22).any(|name| name == way.variant));
        assert_eq!(on("NVIDIA H200", "fp64", 7), None);
        assert_eq!(on("another", "fp64", 1 << 22), None);
        assert!(is_known("NVIDIA H200") && !is_known("another"));
    }
}
