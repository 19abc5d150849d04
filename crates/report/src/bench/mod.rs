//! The results of benchmarks: files with the objects that commands such as `warpint bench mersenne
//! --json` print.

mod kinds;
mod rows;

use std::path::Path;
use std::time::UNIX_EPOCH;

use serde_json::Value;
use warpint_files::{FileError, Folder};

use crate::html::Html;
use crate::text;
use crate::work::table;
use kinds::Kind;

/// The largest size of a file that is read.
const MOST_BYTES: u64 = 16 << 20;
/// The largest number of files that are read, and of rows of a table.
const MOST_FILES: usize = 200;
const MOST_ROWS: usize = 500;

/// A file with results of benchmarks.
#[derive(Debug)]
pub(crate) struct ResultFile {
    name: String,
    /// The time at which the file was last changed, in seconds since 1970-01-01 00:00:00 UTC.
    changed: Option<i64>,
    objects: Vec<Value>,
}

impl ResultFile {
    /// Reads the files of a directory whose names end in `.json` or `.jsonl`. A file is one JSON object
    /// or has one object per line. Other files of warpint are left out. Appends a line to `unreadable`
    /// for each file that cannot be read or has no results of a benchmark.
    pub(crate) fn all(dir: &Path, unreadable: &mut Vec<String>) -> Result<Vec<Self>, FileError> {
        let folder = Folder::at(dir);
        let names = folder.list()?.into_iter().filter_map(|entry| entry.name.into_string().ok());
        let mut names: Vec<_> = names.filter(|name| is_candidate(name)).collect();
        names.sort();
        if names.len() > MOST_FILES {
            let (all, first) = (names.len(), &names[MOST_FILES]);
            unreadable.push(format!(
                "{}: {all} JSON files; those from {first} on are left out",
                dir.display()
            ));
            names.truncate(MOST_FILES);
        }
        let mut found = vec![];
        for name in names {
            let path = folder.file(&name);
            let read = folder.read(&name, MOST_BYTES);
            let read = read.map_err(|e| e.in_message_of(&path).to_string());
            match read.and_then(|bytes| objects(&bytes)) {
                Ok(objects) => {
                    let changed = changed(&folder, &name);
                    found.push(Self { name, changed, objects });
                }
                Err(reason) => unreadable.push(format!("{}: {reason}", path.display())),
            }
        }
        Ok(found)
    }

    /// Writes a section with the results of the file. `number` makes its identifier unique.
    pub(crate) fn write(&self, html: &mut Html, number: usize) {
        let id = format!("results-{number}");
        html.with("section", &[("aria-labelledby", &id)], |html| {
            html.element("h2", &[("id", &id)], &self.name);
            if let Some(changed) = self.changed {
                let said = format!("File last changed {}.", text::time(changed));
                html.element("p", &[("class", "note")], &said);
            }
            self.objects.iter().for_each(|object| write(html, object));
        });
    }
}

/// Returns whether a name may be that of a file of results.
fn is_candidate(name: &str) -> bool {
    let is_json = name.ends_with(".json") || name.ends_with(".jsonl");
    let others = ["status-", "candidates", ".", "tuning.json"];
    let ends = ["-result.json", ".planted.json", ".partial.json"];
    is_json
        && !others.iter().any(|begin| name.starts_with(begin))
        && !ends.iter().any(|end| name.ends_with(end))
}

fn changed(folder: &Folder, name: &str) -> Option<i64> {
    let changed = folder.open(name).ok()?.metadata().ok()?.modified().ok()?;
    i64::try_from(changed.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
}

/// Parses one object, or one per line. Every object must be the result of a benchmark.
fn objects(bytes: &[u8]) -> Result<Vec<Value>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8 text")?;
    let objects: Vec<Value> = match serde_json::from_str(text) {
        Ok(object) => vec![object],
        Err(whole) => {
            let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
            let parsed = lines.map(|(at, line)| {
                serde_json::from_str(line).map_err(|e| format!("line {}: {e}", at + 1))
            });
            match parsed.collect::<Result<Vec<_>, _>>() {
                Ok(objects) => objects,
                // A file with line breaks inside one object is damaged as a whole.
                Err(_) if text.trim_start().starts_with("{\n") => return Err(whole.to_string()),
                Err(reason) => return Err(reason),
            }
        }
    };
    match objects.iter().find_map(foreign) {
        None if objects.is_empty() => Err("it has no JSON object".into()),
        None => Ok(objects),
        Some(reason) => Err(reason.into()),
    }
}

/// Returns the reason why a value is not the result of a benchmark; `None` if it is one.
fn foreign(object: &Value) -> Option<&'static str> {
    let has = |name: &str| object.get(name).is_some();
    if has("unit") && has("sha256") {
        return Some("it is a Collatz unit: `warpint collatz merge` reports on units");
    }
    let has_rows = object["rows"].as_array().is_some_and(|rows| rows.iter().all(Value::is_object));
    let is_known = has_rows || has("mismatches") || has("bare-us") || has("kernel-period-us");
    (!is_known).then_some("it is not the result of a benchmark")
}

/// Writes the values of one object: scalars as a list, lists of objects as tables, and a chart of the
/// rows if their kind is known.
fn write(html: &mut Html, object: &Value) {
    let rows = object["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let kind = Kind::of(rows);
    html.element("h3", &[], kind.map_or_else(|| kinds::title(object), |kind| kind.title));
    let (facts, tables) = rows::parts(object);
    html.with("dl", &[("class", "facts")], |html| {
        for (name, value) in facts {
            html.with("div", &[], |html| {
                html.element("dt", &[], &name);
                html.element("dd", &[], &value);
            });
        }
    });
    if let Some(kind) = kind {
        html.with("div", &[("class", "charts")], |html| kind.draw(html, rows));
    }
    let named = tables.len() > 1;
    for (name, rows) in tables {
        if named {
            html.element("h4", &[], &name);
        }
        if rows.len() > MOST_ROWS {
            let all = text::grouped(rows.len() as u64);
            let said = format!("The table has the first {MOST_ROWS} of {all} rows.");
            html.element("p", &[], &said);
        }
        let (columns, cells) = rows::table(&rows[..rows.len().min(MOST_ROWS)]);
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        table(html, &name, &columns, cells.into_iter());
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn results_are_read_and_other_files_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        let row = "{\"rows\":[{\"exponent\":7,\"engine\":\"fp64\",\"us-per-squaring\":1.5}]}";
        write("a.json", row);
        write("b.jsonl", &format!("{row}\n\n{row}\n"));
        write("c.json", "{\"rows\":[");
        write("d.json", "{\"unit\":{},\"sha256\":\"\"}");
        write("e.json", "[1,2]");
        write("f.json", "");
        write("g.json", "{\n \"rows\": [\n");
        write("status-0.json", "{}");
        write("notes.txt", "x");
        fs::create_dir(dir.path().join("h.json")).unwrap();
        let mut unreadable = vec![];
        let files = ResultFile::all(dir.path(), &mut unreadable).unwrap();
        let found: Vec<_> = files.iter().map(|f| (f.name.as_str(), f.objects.len())).collect();
        assert_eq!(found, [("a.json", 1), ("b.jsonl", 2)]);
        assert!(files[0].changed.is_some());
        let said = unreadable.join("\n");
        for part in [
            "c.json: line 1: EOF",
            "d.json: it is a Collatz unit",
            "e.json: it is not the result of a benchmark",
            "f.json: it has no JSON object",
            "g.json: EOF",
            "h.json: ",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert_eq!(unreadable.len(), 6, "{said}");
    }

    #[test]
    fn a_file_becomes_a_chart_and_a_table() {
        let row = |p: u32, us: f64| {
            serde_json::json!({"exponent": p, "engine": "fp64<", "us-per-squaring": us,
                "fft-floor-us": us / 2.0, "fftw-us": null, "kernels": [{"kernel": "k"}]})
        };
        let object = serde_json::json!({"cpu": "A & B", "threads": 2,
            "rows": [row(216_091, 40.5), row(1_257_787, 300.25)]});
        let file = ResultFile { name: "m.json".into(), changed: None, objects: vec![object] };
        let mut html = Html::default();
        file.write(&mut html, 1);
        let text = html.into_text();
        let section = roxmltree::Document::parse(&text).unwrap();
        let all = |name: &str| -> Vec<String> {
            let found = section.descendants().filter(|n| n.has_tag_name(name));
            found.map(|n| n.text().unwrap_or_default().into()).collect()
        };
        assert_eq!(all("h3"), ["Time of a squaring modulo 2^p − 1"]);
        assert_eq!(all("dd"), ["A & B", "2"]);
        assert_eq!(all("th"), ["exponent", "engine", "fft floor, µs", "µs per squaring"]);
        assert_eq!(all("td")[..4], ["216,091", "fp64<", "20.25", "40.50"]);
        assert_eq!(all("circle").len(), 2, "the floor has no markers");
    }
}
