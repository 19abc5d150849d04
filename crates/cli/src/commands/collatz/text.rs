//! The contents of unit files as text.

use std::collections::BTreeMap;

/// The number of units by method, version and parameters.
pub(super) type Methods = BTreeMap<(String, u32, String), u64>;

/// Escapes the control characters of a text from a file, so that the text cannot affect the
/// terminal.
pub(super) fn printable(text: &str) -> String {
    let escaped = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    text.chars().map(escaped).collect()
}

/// Formats the counts of units by method as `16 by plain 1 (none), 3 by sieve 1 (…)`.
pub(super) fn by(methods: &Methods) -> String {
    let lines = methods.iter().map(|((name, version, parameters), count)| {
        format!("{count} by {} {version} ({})", printable(name), printable(parameters))
    });
    lines.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(printable("a \u{1b}[31m\n\u{9b}ä"), "a \\u{1b}[31m\\n\\u{9b}ä");
    }

    #[test]
    fn methods_are_counted() {
        let key = |name: &str| (name.to_owned(), 1, "x\r".to_owned());
        let methods = [(key("plain"), 16), (key("sieve"), 3)].into();
        assert_eq!(by(&methods), "16 by plain 1 (x\\r), 3 by sieve 1 (x\\r)");
    }
}
