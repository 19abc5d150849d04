//! Reads a Markdown file and finds its blocks of prose, headings and links.

use std::ops::Range;
use std::path::PathBuf;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// A Markdown file, with its blocks of prose, links and anchors.
pub(super) struct Page {
    /// The path of the file, relative to the root of the workspace.
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// The paragraphs, items of tight lists and headings, in the order of the text.
    pub(super) blocks: Vec<Block>,
    /// The destination of each link and image, and its position in the text, in bytes.
    pub(super) links: Vec<(String, usize)>,
    /// The anchors of all headings, without duplicates.
    pub(super) anchors: Vec<String>,
    /// The positions in the text, in bytes, at which the lines begin.
    starts: Vec<usize>,
}

/// A block of prose: a paragraph, an item of a tight list, or a heading. Headings cannot be broken
/// into lines.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// The range of bytes of the page from the first to the last character of the block.
    pub(super) range: Range<usize>,
    pub(super) is_heading: bool,
    /// The ranges of code and HTML in the block. A line must not be broken within such a range.
    pub(super) fixed: Vec<Range<usize>>,
    /// The ranges of hard breaks: line ends that are visible in the output.
    pub(super) hard_breaks: Vec<Range<usize>>,
}

/// Returns the Markdown parser that mdBook uses, with the same extensions.
pub(super) fn parser(text: &str) -> Parser<'_> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_DEFINITION_LIST
        | Options::ENABLE_GFM;
    Parser::new_ext(text, options)
}

impl Page {
    pub(super) fn new(path: PathBuf, text: String) -> Self {
        let starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut reader = Reader::default();
        for (event, range) in parser(&text).into_offset_iter() {
            reader.take(event, range);
        }
        let Reader { blocks, links, anchors, .. } = reader;
        Self { path, blocks, links, anchors, starts, text }
    }

    /// Returns the index of the line that contains the byte at position `at`, counted from 0.
    pub(super) fn line_of(&self, at: usize) -> usize {
        self.starts.partition_point(|&start| start <= at).saturating_sub(1)
    }

    /// Returns the range of bytes of the line with this index, without its line end.
    pub(super) fn line(&self, index: usize) -> Range<usize> {
        let start = self.starts.get(index).copied().unwrap_or(self.text.len());
        let end = self.starts.get(index + 1).map_or(self.text.len(), |&next| next - 1);
        let line = self.text.get(start..end).unwrap_or_default();
        start..start + line.strip_suffix('\r').unwrap_or(line).len()
    }

    /// Returns the range of the indices of a block's lines, counted from 0.
    pub(super) fn lines_of(&self, block: &Block) -> Range<usize> {
        let last = self.line_of(block.range.end.saturating_sub(1).max(block.range.start));
        self.line_of(block.range.start)..last + 1
    }

    /// Returns the position in bytes at which a block's text begins, after the marks of quotes and
    /// lists on its first line.
    pub(super) fn start_of(&self, block: &Block) -> usize {
        let line = self.line(self.line_of(block.range.start)).start;
        let before = self.text.get(line..block.range.start).unwrap_or_default();
        // The parser omits a backslash.
        line + before.rfind([' ', '\t', '>']).map_or(0, |at| at + 1)
    }
}

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    links: Vec<(String, usize)>,
    anchors: Vec<String>,
    /// The block that is being read; `None` outside of blocks.
    open: Option<Block>,
    /// The nesting depth of tables and of blocks of code or HTML. Text in them is skipped.
    skipped: usize,
    /// The text of the heading that is being read.
    heading: String,
}

impl Reader {
    fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag),
            Event::Code(text) => {
                self.heading.push_str(&text);
                self.inline(range.clone());
                self.fix(range);
            }
            Event::InlineHtml(_) => {
                self.inline(range.clone());
                self.fix(range);
            }
            Event::HardBreak => {
                self.inline(range.clone());
                self.open.iter_mut().for_each(|block| block.hard_breaks.push(range.clone()));
            }
            Event::Text(text) => {
                self.heading.push_str(&text);
                self.inline(range);
            }
            Event::SoftBreak => {
                self.heading.push(' ');
                self.inline(range);
            }
            Event::FootnoteReference(_) => self.inline(range),
            _ => self.close(),
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.links.push((dest_url.into_string(), range.start));
                self.inline(range);
            }
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough => self.inline(range),
            Tag::Table(_)
            | Tag::CodeBlock(_)
            | Tag::HtmlBlock
            | Tag::MetadataBlock(_)
            | Tag::DefinitionListTitle => {
                self.close();
                self.skipped += 1;
            }
            Tag::Heading { .. } => {
                self.close();
                self.heading.clear();
                self.open = Some(Block { range, is_heading: true, ..Block::default() });
            }
            Tag::Paragraph => {
                self.close();
                self.open = Some(Block { range, ..Block::default() });
            }
            _ => self.close(),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Link | TagEnd::Image => {}
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {}
            TagEnd::Table
            | TagEnd::CodeBlock
            | TagEnd::HtmlBlock
            | TagEnd::MetadataBlock(_)
            | TagEnd::DefinitionListTitle => self.skipped -= 1,
            TagEnd::Heading(_) => {
                self.close();
                let anchor = unique(slug(&self.heading), &self.anchors);
                self.anchors.push(anchor);
            }
            _ => self.close(),
        }
    }

    /// Adds a range of text to the open block. If no block is open, as in an item of a tight list,
    /// the text begins a new block.
    fn inline(&mut self, range: Range<usize>) {
        if self.skipped > 0 {
            return;
        }
        let block =
            self.open.get_or_insert_with(|| Block { range: range.clone(), ..Block::default() });
        block.range.end = block.range.end.max(range.end);
    }

    fn fix(&mut self, range: Range<usize>) {
        self.open.iter_mut().for_each(|block| block.fixed.push(range.clone()));
    }

    fn close(&mut self) {
        self.blocks.extend(self.open.take());
    }
}

/// Returns the anchor that mdBook and GitHub derive from the text of a heading.
fn slug(heading: &str) -> String {
    let kept = |c: char| match c {
        '_' | '-' => Some(c),
        _ if c.is_alphanumeric() => Some(c),
        _ => c.is_whitespace().then_some('-'),
    };
    heading.trim().to_lowercase().chars().filter_map(kept).collect()
}

/// Returns an anchor that differs from all anchors in `used`: `slug`, if necessary with a number
/// appended.
fn unique(slug: String, used: &[String]) -> String {
    if !used.contains(&slug) {
        return slug;
    }
    let numbered = (1..).map(|n| format!("{slug}-{n}"));
    numbered.into_iter().find(|name| !used.contains(name)).unwrap_or(slug)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page {
        Page::new("page.md".into(), text.to_owned())
    }

    #[test]
    fn anchors_are_those_of_mdbook_and_github() {
        let text =
            "# `warpint batch`: sums\n\n## A & B\n\n## A & B\n\nÄHNLICH *so*\n---\n\n## 2^p − 1\n";
        let anchors = ["warpint-batch-sums", "a--b", "a--b-1", "ähnlich-so", "2p--1"];
        assert_eq!(page(text).anchors, anchors);
    }

    #[test]
    fn blocks_are_prose_and_headings() {
        let text = "# Head\n\nOne\ntwo.\n\n- item\n  goes on\n  - inner\n- \\*next\n\n| a |\n|---|\n| b |\n\n\
                    ```\ncode\n```\n\n<p>\nhtml\n</p>\n\n> quoted\n\n[id]: https://example.org\n";
        let page = page(text);
        let texts: Vec<_> = page
            .blocks
            .iter()
            .map(|block| {
                let last = page.line(page.lines_of(block).end - 1).end;
                &page.text[page.start_of(block)..last]
            })
            .collect();
        assert_eq!(texts, ["# Head", "One\ntwo.", "item\n  goes on", "inner", "\\*next", "quoted"]);
        assert!(page.blocks[0].is_heading && !page.blocks[1].is_heading);
    }

    #[test]
    fn links_of_text_and_tables_are_found() {
        let page =
            page("[a](b.md) ![c](d.svg)\n\n| x |\n|---|\n| [e](f.md#g) |\n\n`[no](no.md)`\n");
        let links: Vec<_> =
            page.links.iter().map(|(to, at)| (to.as_str(), page.line_of(*at))).collect();
        assert_eq!(links, [("b.md", 0), ("d.svg", 0), ("f.md#g", 4)]);
    }
}
