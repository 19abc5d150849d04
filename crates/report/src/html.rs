//! Writes elements of HTML and SVG. All text and all values of attributes are escaped here, so that
//! text from files cannot become markup.

/// A part of a document. The elements are well-formed XML.
#[derive(Debug, Default)]
pub(crate) struct Html(String);

/// Attributes: names and values.
pub(crate) type Attributes<'a> = &'a [(&'static str, &'a str)];

impl Html {
    /// Writes an element whose content a function writes.
    pub(crate) fn with(
        &mut self,
        tag: &'static str,
        attributes: Attributes<'_>,
        content: impl FnOnce(&mut Self),
    ) {
        self.open(tag, attributes);
        self.0.push('>');
        content(self);
        self.close(tag);
        self.0.push('\n');
    }

    /// Writes an element that contains text.
    pub(crate) fn element(&mut self, tag: &'static str, attributes: Attributes<'_>, text: &str) {
        self.open(tag, attributes);
        self.0.push('>');
        self.text(text);
        self.close(tag);
    }

    /// Writes an element that has no content in any document, such as `meta`.
    pub(crate) fn void(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.open(tag, attributes);
        self.0.push_str("/>");
    }

    /// Writes text.
    pub(crate) fn text(&mut self, text: &str) {
        escape(text, &mut self.0);
    }

    /// Writes a style sheet of this crate, which is not escaped.
    pub(crate) fn style(&mut self, sheet: &'static str) {
        self.open("style", &[]);
        self.0.push('>');
        self.0.push_str(sheet);
        self.close("style");
    }

    /// Writes another part.
    pub(crate) fn append(&mut self, part: Self) {
        self.0.push_str(&part.0);
    }

    /// Returns whether nothing has been written.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text of the part.
    pub(crate) fn into_text(self) -> String {
        self.0
    }

    fn open(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.0.push('<');
        self.0.push_str(tag);
        for (name, value) in attributes {
            self.0.push(' ');
            self.0.push_str(name);
            self.0.push_str("=\"");
            escape(value, &mut self.0);
            self.0.push('"');
        }
    }

    fn close(&mut self, tag: &'static str) {
        self.0.push_str("</");
        self.0.push_str(tag);
        self.0.push('>');
    }
}

/// Appends text with the characters escaped that have a meaning in HTML or XML. Characters that XML
/// does not allow, and those that change the direction of the text around them, are replaced.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' => out.push(c),
            '\u{fffe}' | '\u{ffff}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                out.push(char::REPLACEMENT_CHARACTER);
            }
            c if c.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_never_becomes_markup() {
        let hostile = "</td><script>alert('1')</script>\" onload=\"x\" & \u{0}\u{202e}\u{ffff}";
        let mut html = Html::default();
        html.with("p", &[("title", hostile)], |html| html.element("b", &[], hostile));
        let text = html.into_text();
        let parsed = roxmltree::Document::parse(&text).unwrap();
        let expected = "</td><script>alert('1')</script>\" onload=\"x\" & \u{fffd}\u{fffd}\u{fffd}";
        let root = parsed.root_element();
        assert_eq!(root.attribute("title"), Some(expected));
        assert_eq!(root.first_element_child().unwrap().text(), Some(expected));
        assert_eq!(root.descendants().filter(|node| node.is_element()).count(), 2);
        assert!(!text.contains("<script"), "{text}");
    }
}
