//! Rewraps prose to a fixed width. All other text is preserved byte for byte.

use anyhow::{Result, ensure};
use pulldown_cmark::html::push_html;

use super::page::{Block, Page, parser};

/// The largest number of characters of a rewrapped line. A line is longer only if it cannot be
/// broken.
const WIDTH: usize = 110;

/// Rewraps each paragraph and list item that has a line of more than `WIDTH` characters. Returns
/// the new text of the page, or `None` if the text does not change. Returns an error if rewrapping
/// would change the output of the page.
pub(super) fn wrapped(page: &Page) -> Result<Option<String>> {
    let is_wide = |line| page.text[page.line(line)].chars().count() > WIDTH;
    let mut text = String::with_capacity(page.text.len());
    let mut end = 0;
    let prose = page.blocks.iter().filter(|block| !block.is_heading);
    for block in prose.filter(|block| page.lines_of(block).any(is_wide)) {
        let lines = page.lines_of(block);
        text += &page.text[end..page.line(lines.start).start];
        text += &rewrapped(page, block);
        end = page.line(lines.end - 1).end;
    }
    text += &page.text[end..];
    if text == page.text {
        return Ok(None);
    }
    ensure!(
        shown(&text) == shown(&page.text),
        "{}: rewrapping would change what is shown: break the lines by hand",
        page.path.display()
    );
    Ok(Some(text))
}

/// Returns the HTML output of a page, with each run of white space replaced by one blank.
fn shown(text: &str) -> String {
    let mut html = String::new();
    push_html(&mut html, parser(text));
    html.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn rewrapped(page: &Page, block: &Block) -> String {
    let lines = page.lines_of(block);
    let first = &page.text[page.line(lines.start).start..page.start_of(block)];
    let indent: String =
        first.chars().map(|c| if c == '>' || c.is_whitespace() { c } else { ' ' }).collect();
    let mut text = String::new();
    for sentence in sentences(page, block) {
        let mut lead = if text.is_empty() { first } else { &indent };
        if !text.is_empty() {
            text.push('\n');
        }
        for line in filled(&sentence.words, WIDTH.saturating_sub(lead.chars().count())) {
            text += lead;
            text += &line;
            text.push('\n');
            lead = &indent;
        }
        text.pop();
        text += &sentence.end;
    }
    text
}

/// A part of a block that can be rewrapped: its words up to a hard break or to the end of the
/// block.
#[derive(Default)]
struct Sentence {
    words: Vec<String>,
    /// The blanks or the backslash that make the hard break; empty at the end of the block.
    end: String,
}

fn sentences(page: &Page, block: &Block) -> Vec<Sentence> {
    let lines = page.lines_of(block);
    let quotes = page.text[page.line(lines.start).start..page.start_of(block)].matches('>').count();
    let mut sentences = vec![];
    let mut open = Sentence::default();
    // The last word continues: the line ended within code or HTML.
    let mut unfinished = false;
    for line in lines.clone() {
        let range = page.line(line);
        let start = if line == lines.start {
            page.start_of(block)
        } else {
            range.start + marks(&page.text[range.clone()], quotes)
        };
        let hard = block.hard_breaks.iter().find(|hard| range.contains(&hard.start));
        let end = hard.map_or(range.end, |hard| hard.start);
        let (words, continues) = words(page, block, start..end);
        for (index, word) in words.into_iter().enumerate() {
            match open.words.last_mut() {
                Some(last) if index == 0 && unfinished => {
                    last.push(' ');
                    last.push_str(&word);
                }
                _ => open.words.push(word),
            }
        }
        unfinished = continues;
        if hard.is_some() {
            open.end = page.text[end..range.end].to_owned();
            sentences.push(std::mem::take(&mut open));
        }
    }
    sentences.push(open);
    sentences
}

/// Returns the length in bytes of the longest prefix of a line that consists of blanks and at most
/// `quotes` quote marks.
fn marks(line: &str, quotes: usize) -> usize {
    let mut rest = line.trim_start();
    for _ in 0..quotes {
        rest = rest.strip_prefix('>').unwrap_or(rest).trim_start();
    }
    line.len() - rest.len()
}

/// Returns the words in a range of a line, and whether the last word continues in the next line. A
/// blank within code or HTML is part of a word.
fn words(page: &Page, block: &Block, range: std::ops::Range<usize>) -> (Vec<String>, bool) {
    let fixed = |at: usize| block.fixed.iter().any(|fixed| fixed.contains(&at));
    let mut words = vec![];
    let mut word = String::new();
    for (at, c) in page.text[range.clone()].char_indices() {
        if c.is_whitespace() && !fixed(range.start + at) {
            words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
        } else {
            word.push(c);
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    (words, fixed(range.end))
}

/// Distributes words to lines of at most `width` characters. A line is longer if a word, or words
/// that must stay together, are longer.
fn filled(words: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for word in together(words) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// Returns the words. Words that must stay on one line are joined by a blank: a word that must not
/// begin a line is joined to the word before it, and a word that must not end a line is joined to
/// the word after it.
fn together(words: &[String]) -> Vec<String> {
    let mut joined: Vec<String> = vec![];
    for word in words {
        match joined.last_mut() {
            Some(last) if !may_begin(word) || last.ends_with('\\') => {
                last.push(' ');
                last.push_str(word);
            }
            _ => joined.push(word.clone()),
        }
    }
    joined
}

/// Returns whether a word may begin a line. It may not if Markdown would read it as the mark of a
/// list, a heading, a quote, a table, a rule, a definition, a fence or a block of HTML.
fn may_begin(word: &str) -> bool {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = digits.len() < word.len() && matches!(digits, "." | ")");
    let mark = word.chars().all(|c| "-+*=_#:|~".contains(c));
    let block = ["|", ">", "```", "~~~", "[^"].iter().any(|start| word.starts_with(start));
    let html = word.strip_prefix('<').is_some_and(|rest| {
        !rest.contains("://")
            && rest.starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c))
    });
    !(number || mark || block || html)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrap(text: &str) -> String {
        let page = Page::new("page.md".into(), text.to_owned());
        let text = wrapped(&page).unwrap().unwrap_or_else(|| text.to_owned());
        let again = Page::new("page.md".into(), text.clone());
        assert_eq!(wrapped(&again).unwrap(), None, "not the same again: {text}");
        text
    }

    /// Returns `count` words of four letters with blanks between them. 22 of them fill a line.
    fn words(count: usize) -> String {
        vec!["word"; count].join(" ")
    }

    #[test]
    fn paragraphs_and_items_are_wrapped() {
        assert_eq!(wrap(&format!("{}\n", words(23))), format!("{}\nword\n", words(22)));
        // Lines that are short enough are preserved.
        for text in ["a\nb\n".to_owned(), format!("{}\nword\nword\n", words(22))] {
            assert_eq!(wrap(&text), text);
        }
        let item = format!("- {}\n- short\n", words(24));
        assert_eq!(wrap(&item), format!("- {}\n  {}\n- short\n", words(21), words(3)));
        let numbered = format!("10. {}\n\n    {}\n", words(24), words(24));
        let begun = format!("10. {}\n    {}\n", words(21), words(3));
        assert_eq!(wrap(&numbered), format!("{begun}\n    {}\n    {}\n", words(21), words(3)));
        let nested = format!("> - {}\n>   - {}\n", words(24), words(24));
        let outer = format!("> - {}\n>   {}\n", words(21), words(3));
        assert_eq!(wrap(&nested), format!("{outer}>   - {}\n>     {}\n", words(21), words(3)));
        let lazy = format!("> {}\n{}\n> end\n", words(22), words(24));
        assert_eq!(wrap(&lazy), format!("> {}\n> {}\n> {} end\n", words(21), words(21), words(4)));
    }

    #[test]
    fn what_is_no_prose_stays() {
        let long = words(40);
        for text in [
            format!("| a | b |\n|---|---|\n| {long} | c |\n"),
            format!("```\n{long}\n```\n"),
            format!("# {long}\n"),
            format!("<p>\n{long}\n</p>\n"),
            format!("[id]: https://example.org \"{long}\"\n"),
            format!("`{long}`\n"),
        ] {
            assert_eq!(wrap(&text), text);
        }
    }

    #[test]
    fn code_is_not_broken() {
        let text = format!("{} `cargo test --release`, so\n", words(20));
        assert_eq!(wrap(&text), format!("{}\n`cargo test --release`, so\n", words(20)));
        // Code that was broken is on one line again.
        let text = format!("{} `cargo\ntest` end\n", words(23));
        assert_eq!(wrap(&text), format!("{}\nword `cargo test` end\n", words(22)));
    }

    #[test]
    fn hard_breaks_stay() {
        for end in ["\\", "  "] {
            let text = format!("short{end}\n{}{end}\nend\n", words(23));
            assert_eq!(wrap(&text), format!("short{end}\n{}\nword{end}\nend\n", words(22)));
        }
    }

    /// A mark at every place of a line, in paragraphs, items and quotes, also twice and within code.
    #[test]
    fn no_mark_begins_an_item_at_any_place() {
        for mark in ["-", "+", "*", "1.", "1)", "- -", "1. -", "-\n1."] {
            for place in 15..28 {
                for lead in ["", "- ", "1. ", "> ", "> - ", "- 1. "] {
                    let text = format!("{lead}{} x {mark} word {}\n", words(place), words(30));
                    if mark.contains('\n') && lead.is_empty() {
                        // The page has an item already.
                        continue;
                    }
                    let items = |text: &str| shown(text).matches("<li>").count();
                    assert_eq!(items(&wrap(&text)), items(&text), "{text}");
                }
            }
        }
    }

    #[test]
    fn no_line_begins_with_a_mark() {
        for mark in [
            "-", "+", "*", "1.", "12)", "#", "###", ">", ">5", "|", "|x", "---", "===", "```",
            "~~~", ":", "<div>", "<!--x-->", "***",
        ] {
            let text = format!("{} {mark} word\n", words(22));
            assert_eq!(wrap(&text), format!("{}\nword {mark} word\n", words(21)), "{mark}");
        }
        for word in ["-5", "*x*", "1.5", "#7", "<https://example.org>", "[x](y.md)"] {
            assert_eq!(
                wrap(&format!("{} {word}\n", words(22))),
                format!("{}\n{word}\n", words(22))
            );
        }
        let text = format!("{} \\ word\n", words(21));
        assert!(!wrap(&text).contains("\\\n"));
    }
}
