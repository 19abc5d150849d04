//! The parts of an SVG document that all charts have in common.

use std::fmt::{self, Write};

/// The colour of texts, axes and grids.
pub(super) const GREY: &str = "#808080";
/// The colours of lines and bars, in the order in which their names are first used: blue, orange,
/// green, violet, red, teal, olive, pink. A ninth name has the first colour again.
const COLOURS: [&str; 8] =
    ["#3d85d6", "#d9731a", "#2e9e6b", "#9a63d1", "#d64545", "#2a9da8", "#8f8a24", "#d0609f"];
/// The font size of a title, in pixels.
const TITLE: f64 = 17.0;
/// The mean width of a character divided by the font size. Fonts differ, so this is an estimate.
const CHARACTER: f64 = 0.54;

/// Returns the colour of a name. `names` are all names, in the order in which they are used.
pub(super) fn colour<'a>(names: impl Iterator<Item = &'a str>, name: &str) -> &'static str {
    let mut seen: Vec<&str> = vec![];
    for one in names {
        if one == name {
            break;
        }
        if !seen.contains(&one) {
            seen.push(one);
        }
    }
    COLOURS[seen.len() % COLOURS.len()]
}

/// Estimates the width of a text in pixels.
pub(super) fn width_of(text: &str, font_size: f64) -> f64 {
    CHARACTER * font_size * text.chars().count() as f64
}

/// Replaces the characters that have a meaning in XML, and those that XML does not allow.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\t' | '\n' | '\r' => safe.push(' '),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            character => safe.push(character),
        }
    }
    safe
}

/// Begins a document, with its title and its description as alternative text.
pub(super) fn begin(
    f: &mut impl Write,
    [width, height]: [f64; 2],
    title: &str,
    description: &str,
) -> fmt::Result {
    writeln!(
        f,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" font-family=\"system-ui, sans-serif\" \
         font-size=\"14\" fill=\"{GREY}\" role=\"img\">\n<title>{}</title>\n<desc>{}</desc>",
        escaped(title),
        escaped(description)
    )
}

/// Writes a title above a chart, in the middle of `middle` if it fits there. A long title is in the
/// middle of the whole width, with a smaller font if necessary.
pub(super) fn headline(f: &mut impl Write, title: &str, middle: f64, width: f64) -> fmt::Result {
    let wanted = width_of(title, TITLE);
    let middle = if wanted / 2.0 < middle.min(width - middle) { middle } else { width / 2.0 };
    let size = TITLE.min(TITLE * width / wanted.max(1.0));
    let style = format!("text-anchor=\"middle\" font-size=\"{size:.1}\"");
    text(f, (middle, 28.0), &style, title)
}

/// Writes a text element at a position. `style` contains further attributes of the element.
pub(super) fn text(f: &mut impl Write, (x, y): (f64, f64), style: &str, text: &str) -> fmt::Result {
    writeln!(f, "<text x=\"{x:.1}\" y=\"{y:.1}\" {style}>{}</text>", escaped(text))
}

/// Formats a value for a description: `82589933`, `68.4`, `0.05`, `5.9e14`.
pub(super) fn plain(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < 1e12 {
        return format!("{x:.0}");
    }
    // Four digits; parsing and formatting drops zeros at the end.
    let rounded: f64 = format!("{x:.3e}").parse().unwrap_or(x);
    if (1e-4..1e12).contains(&rounded.abs()) {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_colours_in_the_order_of_their_first_use() {
        let names = ["a", "b", "a", "c", "b"];
        let of = |name| colour(names.into_iter(), name);
        assert_eq!(["a", "b", "c"].map(of), [COLOURS[0], COLOURS[1], COLOURS[2]]);
    }

    #[test]
    fn every_text_is_well_formed() {
        for character in (0..0x300).chain(0xfff0..0x1_0000).filter_map(char::from_u32) {
            let mut document = String::new();
            let said = format!("a{character}<&>\"b");
            begin(&mut document, [10.0, 10.0], &said, &said).unwrap();
            text(&mut document, (1.0, 1.0), "", &said).unwrap();
            document += "</svg>";
            let svg = roxmltree::Document::parse(&document);
            let svg = svg.unwrap_or_else(|e| panic!("U+{:04X}: {e}", u32::from(character)));
            let title = svg
                .descendants()
                .find(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "title")));
            assert!(title.unwrap().text().unwrap().ends_with("<&>\"b"));
        }
    }

    #[test]
    fn values_of_descriptions_are_short() {
        let of = [82_589_933.0, 68.4, 68.412_34, 0.05, 5.9e14, -0.38, 0.0, 1e-7].map(plain);
        assert_eq!(of, ["82589933", "68.4", "68.41", "0.05", "5.9e14", "-0.38", "0", "1e-7"]);
    }
}
