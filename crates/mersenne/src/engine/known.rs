//! The fastest known variants of engines on GPUs.
//!
//! The table of a GPU model (`tables/nvidia-h200.txt`) begins with a comment line. After it, there
//! is one line for each pair of an engine family and a transform length. The line consists of the
//! family's name, the length in words, the time of a squaring in microseconds, and the variant.
//! `warpint tune --lengths 64K..36M --table FILE` writes such a table. The times are valid for that
//! GPU model only. On GPU models without a table, the family `fp64` considers the variants in the
//! tables of other models first.

use std::fmt::Write;
use std::sync::LazyLock;
use std::time::Duration;

/// A GPU model whose table of times is compiled into the program.
struct Product {
    /// The name of the GPU model, as the driver reports it.
    name: &'static str,
    text: &'static str,
}

const PRODUCTS: [Product; 1] =
    [Product { name: "NVIDIA H200", text: include_str!("../../tables/nvidia-h200.txt") }];

/// The fastest known variant of an engine family at a transform length, on one GPU model.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// The name of the engine family.
    pub engine: String,
    /// The transform length, in words.
    pub length: usize,
    /// The time that a squaring takes.
    pub time: Duration,
    /// The name of the variant, as in [`Profiled::variants`](super::Profiled::variants).
    pub variant: String,
}

static TABLES: LazyLock<Vec<(&str, Vec<Known>)>> = LazyLock::new(|| {
    let table = |product: &Product| product.text.lines().filter_map(Known::parse).collect();
    PRODUCTS.iter().map(|product| (product.name, table(product))).collect()
});

impl Known {
    /// Parses a line of a table, such as `fp64 65536 6.36 128x256 4.8.4/8.8.4 2/4 1 128.128`.
    /// Returns `None` for a line in any other format, such as a comment.
    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.splitn(4, ' ');
        let engine = parts.next()?.to_owned();
        let length = parts.next()?.parse().ok()?;
        let microseconds: f64 = parts.next()?.parse().ok()?;
        let time = Duration::try_from_secs_f64(microseconds * 1e-6).ok()?;
        Some(Self { engine, length, time, variant: parts.next().unwrap_or_default().to_owned() })
    }
}

/// Returns the text of a table in the format of the tables in the program. The first line is a
/// comment that begins with `title`. One line follows for each entry of `ways`.
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

/// Returns the entry for an engine family and a transform length in the table of the GPU model that
/// the driver reports as `product`. Returns `None` if the program has no table for this model, or
/// if the table has no such entry.
#[must_use]
pub fn on(product: &str, engine: &str, length: usize) -> Option<&'static Known> {
    let (_, ways) = TABLES.iter().find(|(name, _)| *name == product)?;
    ways.iter().find(|way| way.engine == engine && way.length == length)
}

/// Returns whether the program has a table of times for the GPU model that the driver reports as
/// `product`.
pub(super) fn is_known(product: &str) -> bool {
    TABLES.iter().any(|(name, _)| *name == product)
}

/// Iterates over the names of the variants that were fastest for an engine family at a transform
/// length: one name for each GPU model whose table has an entry for this family and length.
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
