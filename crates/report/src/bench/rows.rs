//! Values of JSON objects as text, lists and tables.

use serde_json::{Map, Value};

use crate::text::{grouped, measured};

/// The largest number of columns of a table.
const MOST_COLUMNS: usize = 40;

/// The fields that come first, in this order. JSON objects have no order of their own.
const FIRST: [&str; 16] = [
    "name",
    "device",
    "device-name",
    "cpu",
    "driver",
    "threads",
    "what",
    "operation",
    "prime",
    "exponent",
    "bits",
    "log2",
    "odd",
    "batch",
    "engine",
    "method",
];

/// A name and its value as text.
type Fact = (String, String);

/// Returns the scalars of an object, and its lists of objects with their names. Fields of inner objects
/// are taken as fields of the object.
pub(super) fn parts(object: &Value) -> (Vec<Fact>, Vec<(String, &[Value])>) {
    let (mut facts, mut tables) = (vec![], vec![]);
    if let Value::Object(fields) = object {
        collect(fields, "", &mut facts, &mut tables);
    }
    facts.sort_by_key(|(name, _)| place(name));
    let facts = facts.into_iter().map(|(name, value)| (heading(&name), value)).collect();
    (facts, tables.into_iter().map(|(name, rows)| (heading(&name), rows)).collect())
}

/// Returns the headings and the cells of a table of objects. Lists of objects inside a row are left out,
/// and so are columns without a value.
pub(super) fn table(rows: &[Value]) -> (Vec<String>, Vec<Vec<String>>) {
    let facts: Vec<Vec<Fact>> = rows
        .iter()
        .map(|row| {
            let mut facts = vec![];
            if let Value::Object(fields) = row {
                collect(fields, "", &mut facts, &mut vec![]);
            }
            facts
        })
        .collect();
    let mut names: Vec<&str> = vec![];
    for (name, _) in facts.iter().flatten() {
        if !names.contains(&name.as_str()) && names.len() < MOST_COLUMNS {
            names.push(name);
        }
    }
    names.sort_by_key(|name| place(name));
    let cell = |row: &Vec<Fact>, name: &str| {
        let found = row.iter().find(|(of, _)| of == name);
        found.map_or_else(|| "–".to_owned(), |(_, value)| value.clone())
    };
    let cells = facts.iter().map(|row| names.iter().map(|name| cell(row, name)).collect());
    let is_number = |name: &str| {
        let mut values = facts.iter().flatten().filter(|(of, _)| of == name);
        values.all(|(_, value)| value.starts_with(|c: char| c.is_ascii_digit() || c == '-'))
    };
    let headings = names.iter().map(|name| {
        let mark = if is_number(name) { "#" } else { "" };
        mark.to_owned() + &heading(name)
    });
    (headings.collect(), cells.collect())
}

/// Returns the place of a field among others: that in [`FIRST`], or a place behind all of these.
fn place(name: &str) -> usize {
    FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len())
}

fn collect<'a>(
    fields: &'a Map<String, Value>,
    before: &str,
    facts: &mut Vec<Fact>,
    tables: &mut Vec<(String, &'a [Value])>,
) {
    for (name, value) in fields {
        let name = if before.is_empty() { name.clone() } else { format!("{before} {name}") };
        match value {
            Value::Null => {}
            Value::Object(inner) => collect(inner, &name, facts, tables),
            Value::Array(all) if all.is_empty() => {}
            Value::Array(all) if all.iter().all(Value::is_object) => tables.push((name, all)),
            Value::Array(all) => {
                facts.push((name, all.iter().map(scalar).collect::<Vec<_>>().join(", ")));
            }
            value => facts.push((name, scalar(value))),
        }
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(n), _) => grouped(n),
            (None, Some(x)) => measured(x),
            (None, None) => number.to_string(),
        },
        value => value.to_string(),
    }
}

/// Returns the text of a field's name: `µs per squaring` for `us-per-squaring`, `floor, ns` for
/// `floor-ns`.
fn heading(name: &str) -> String {
    const UNITS: [(&str, &str); 8] = [
        ("us", "µs"),
        ("ns", "ns"),
        ("s", "s"),
        ("seconds", "s"),
        ("bytes", "bytes"),
        ("bits", "bits"),
        ("mhz", "MHz"),
        ("celsius", "°C"),
    ];
    let unit_of = |word: &str| UNITS.iter().find(|(unit, _)| *unit == word).map(|(_, text)| *text);
    let words: Vec<&str> = name.split(['-', ' ']).filter(|word| !word.is_empty()).collect();
    if let [inner @ .., last] = words.as_slice()
        && let Some(unit) = unit_of(last)
        && !inner.is_empty()
    {
        return format!("{}, {unit}", inner.join(" "));
    }
    let said = words.iter().map(|&word| match word {
        "us" => "µs",
        "gb" => "GB",
        word => word,
    });
    said.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_readable_names_with_units() {
        for (name, expected) in [
            ("us-per-squaring", "µs per squaring"),
            ("traffic-floor-us", "traffic floor, µs"),
            ("copy-gb-per-second", "copy GB per second"),
            ("seconds", "seconds"),
            ("transforms forward us-fastest-run", "transforms forward µs fastest run"),
        ] {
            assert_eq!(heading(name), expected);
        }
    }

    #[test]
    fn rows_of_any_form_are_a_table() {
        let rows = serde_json::json!([
            {"a": 1, "b": {"c-us": 2.5}, "list": [1, "x"], "none": null},
            {"a": 12_345, "inner": [{"left": "out"}]},
            7
        ]);
        let (columns, cells) = table(rows.as_array().unwrap());
        assert_eq!(columns, ["#a", "#b c, µs", "#list"]);
        assert_eq!(cells[0], ["1", "2.500", "1, x"]);
        assert_eq!((cells[1][0].as_str(), cells[2][0].as_str()), ("12,345", "–"));
    }
}
