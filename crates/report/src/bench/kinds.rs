//! The kinds of benchmarks whose rows are drawn, with the fields that a chart needs.

use serde_json::Value;

use crate::chart::{COLOURS, Chart, Line, Scale};
use crate::html::Html;

/// A kind of benchmark. A field is named by its path: `big.transform.us` is the field `us` of the field
/// `transform` of the field `big`.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) title: &'static str,
    /// The fields that some row of this kind has.
    has: &'static [&'static str],
    size: Size,
    x_label: &'static str,
    unit: &'static str,
    /// The field by which rows belong to lines.
    line: Option<&'static str>,
    /// The fields of measured times, with their names.
    times: &'static [(&'static str, &'static str)],
    /// The fields of lower bounds and of times of other programs, with their names.
    beside: &'static [(&'static str, &'static str)],
    /// The field by which times are divided.
    per: Option<&'static str>,
}

/// How the size is computed from the fields of a row.
#[derive(Debug)]
enum Size {
    /// It is this field.
    Field(&'static str),
    /// It is 2 to the power of the field `log2`, times the field `odd` if there is one.
    Power,
}

/// The number of lines up to which lower bounds and other programs are drawn too.
const MOST_BESIDE: usize = 6;

static KINDS: [Kind; 6] = [
    Kind {
        title: "Time of a squaring modulo 2^p − 1",
        has: &["exponent", "us-per-squaring"],
        size: Size::Field("exponent"),
        x_label: "exponent p (bits)",
        unit: "µs",
        line: Some("engine"),
        times: &[("us-per-squaring", "")],
        beside: &[
            ("fft-floor-us", "FFT floor"),
            ("fftw-us", "FFTW on one thread"),
            ("traffic-floor-us", "traffic floor"),
            ("arithmetic-floor-us", "arithmetic floor"),
        ],
        per: None,
    },
    Kind {
        title: "Time of an operation of a batch",
        has: &["operation", "bits", "ns-per-operation"],
        size: Size::Field("bits"),
        x_label: "width (bits)",
        unit: "ns",
        line: Some("operation"),
        times: &[("ns-per-operation", "")],
        beside: &[("gmp-ns", "GMP"), ("floor-ns", "copy floor")],
        per: None,
    },
    Kind {
        title: "Time of a transform",
        has: &["log2", "batch", "transforms.forward.us"],
        size: Size::Power,
        x_label: "points",
        unit: "µs",
        line: Some("order"),
        times: &[("transforms.forward.us", "forward"), ("transforms.inverse.us", "inverse")],
        beside: &[
            ("transforms.floors.memory-floor-us", "memory floor"),
            ("transforms.floors.arithmetic-floor-us", "arithmetic floor"),
        ],
        per: Some("batch"),
    },
    Kind {
        title: "Time of a transform over a big prime field",
        has: &["prime", "log2", "big.transform.us"],
        size: Size::Power,
        x_label: "points",
        unit: "µs",
        line: Some("prime"),
        times: &[("big.transform.us", "")],
        beside: &[
            ("small.transform.us", "by small primes"),
            ("big.passes.memory-floor-us", "memory floor"),
            ("big.passes.arithmetic-floor-us", "arithmetic floor"),
        ],
        per: None,
    },
    Kind {
        title: "Time of products of long numbers",
        has: &["log2", "products.product.us"],
        size: Size::Power,
        x_label: "length of a factor (bits)",
        unit: "µs",
        line: None,
        times: &[
            ("products.product.us", "product"),
            ("products.square.us", "square"),
            ("products.from-host.us", "product, from host memory"),
            ("products.division.us", "division"),
            ("products.to-decimal.us", "to decimal digits"),
            ("products.from-decimal.us", "from decimal digits"),
        ],
        beside: &[],
        per: None,
    },
    Kind {
        title: "Time of a Jacobi symbol",
        has: &["exponent", "symbol", "seconds"],
        size: Size::Field("exponent"),
        x_label: "exponent p (bits)",
        unit: "s",
        line: None,
        times: &[("seconds", "Jacobi symbol")],
        beside: &[],
        per: None,
    },
];

impl Kind {
    /// Returns the kind of the rows of a benchmark.
    pub(super) fn of(rows: &[Value]) -> Option<&'static Self> {
        let has = |kind: &&Kind| {
            let is_of = |row: &Value| kind.has.iter().all(|path| field(row, path).is_some());
            rows.iter().any(is_of)
        };
        KINDS.iter().find(has)
    }

    /// Draws the rows as a chart.
    pub(super) fn draw(&self, html: &mut Html, rows: &[Value]) {
        let mut lines: Vec<Line> = vec![];
        // The names that determine the colours.
        let mut owners: Vec<String> = vec![];
        for row in rows {
            let owner = self.line.and_then(|path| field(row, path)).and_then(Value::as_str);
            for &(path, name) in self.times {
                self.add(row, path, &[owner.unwrap_or_default(), name], 0, &mut lines, &mut owners);
            }
        }
        let draws_beside = owners.len() <= MOST_BESIDE;
        for row in rows.iter().filter(|_| draws_beside) {
            let owner = self.line.and_then(|path| field(row, path)).and_then(Value::as_str);
            for (i, &(path, name)) in self.beside.iter().enumerate() {
                self.add(
                    row,
                    path,
                    &[owner.unwrap_or_default(), name],
                    i + 1,
                    &mut lines,
                    &mut owners,
                );
            }
        }
        for part in lines.iter_mut().flat_map(|line| &mut line.parts) {
            part.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        let title = format!("{}, in {}; both axes are logarithmic", self.title, self.unit);
        let (x_label, unit) = (self.x_label.into(), self.unit);
        let (x, y) = (Scale::Log, Scale::Log);
        Chart { title: &title, x_label, unit, x, y, lines, marks: vec![] }.write(html);
        if !draws_beside {
            let said = "Lower bounds and the times of other programs are in the table only.";
            html.element("p", &[("class", "note")], said);
        }
    }

    /// Adds the value of a field of a row to its line.
    fn add(
        &self,
        row: &Value,
        path: &str,
        names: &[&str; 2],
        dash: usize,
        lines: &mut Vec<Line>,
        owners: &mut Vec<String>,
    ) {
        let divisor = self.per.and_then(|path| number(row, path)).unwrap_or(1.0);
        let (Some(size), Some(time)) = (self.size(row), number(row, path)) else { return };
        let parts: Vec<_> = names.iter().copied().filter(|name| !name.is_empty()).collect();
        let name = parts.join(": ");
        // A dashed line has the colour of the line beside which it stands.
        let owner = if dash > 0 { names[0].to_owned() } else { name.clone() };
        let colour =
            owners.iter().position(|of| *of == owner || dash > 0 && of.starts_with(&owner));
        let colour = colour.unwrap_or_else(|| {
            owners.push(owner);
            owners.len() - 1
        });
        let point = (size, time / divisor);
        match lines.iter_mut().find(|line| line.name == name && line.dash == dash) {
            Some(line) => line.parts[0].push(point),
            None => {
                let (colour, parts) = (colour % COLOURS, vec![vec![point]]);
                lines.push(Line { name, colour, dash, parts });
            }
        }
    }

    fn size(&self, row: &Value) -> Option<f64> {
        match self.size {
            Size::Field(path) => number(row, path),
            Size::Power => {
                let odd = number(row, "odd").unwrap_or(1.0);
                Some(odd * number(row, "log2")?.exp2())
            }
        }
    }
}

/// Returns the title of an object whose rows are of no known kind.
pub(super) fn title(object: &Value) -> &'static str {
    let has = |name: &str| object.get(name).is_some();
    match () {
        () if has("mismatches") => "Stress test",
        () if has("bare-us") => "Cost of checks",
        () if has("kernel-period-us") => "Rates of the device",
        () if object["rows"][0].get("walked-share").is_some() => "Collatz verification",
        () => "Measurements",
    }
}

fn field<'a>(row: &'a Value, path: &str) -> Option<&'a Value> {
    let found = path.split('.').try_fold(row, |value, name| value.get(name))?;
    (!found.is_null()).then_some(found)
}

fn number(row: &Value, path: &str) -> Option<f64> {
    field(row, path)?.as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn drawn(rows: &[Value]) -> String {
        let mut html = Html::default();
        Kind::of(rows).unwrap().draw(&mut html, rows);
        html.into_text()
    }

    #[test]
    fn a_kind_is_known_by_the_fields_of_its_rows() {
        let titles = [
            (json!({"exponent": 7, "us-per-squaring": 1.0}), "Time of a squaring modulo 2^p − 1"),
            (json!({"exponent": 7, "symbol": 1, "seconds": 1.0}), "Time of a Jacobi symbol"),
            (
                json!({"log2": 3, "products": {"product": {"us": 1.0}}}),
                "Time of products of long numbers",
            ),
        ];
        for (row, title) in titles {
            assert_eq!(Kind::of(&[json!({}), row]).unwrap().title, title);
        }
        assert!(Kind::of(&[json!({"exponent": 7, "us-per-squaring": null}), json!(3)]).is_none());
        assert!(Kind::of(&[]).is_none());
    }

    #[test]
    fn times_of_batches_are_divided_and_sizes_computed() {
        let row = |log2: u32| {
            json!({"odd": 3, "log2": log2, "batch": 4, "order": "natural",
                "transforms": {"forward": {"us": 8.0}, "inverse": {"us": 16.0}, "floors": null}})
        };
        let text = drawn(&[row(4), row(5)]);
        assert!(text.contains("natural: forward, 48.00: 2.000 µs"), "{text}");
        assert!(text.contains("natural: inverse, 96.00: 4.000 µs"), "{text}");
    }

    #[test]
    fn bounds_have_the_colour_of_their_line_and_are_left_out_beside_many_lines() {
        let row = |operation: &str| json!({"operation": operation, "bits": 64, "ns-per-operation": 2.0, "floor-ns": 1.0});
        let text = drawn(&[row("add"), row("mul")]);
        assert!(text.contains("line s1 dash2") && text.contains("mul: copy floor"), "{text}");
        let many: Vec<_> = "abcdefg".chars().map(|c| row(&c.to_string())).collect();
        let text = drawn(&many);
        assert!(!text.contains("dash2") && text.contains("in the table only"), "{text}");
    }
}
