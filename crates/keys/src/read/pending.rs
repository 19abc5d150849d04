//! Entries whose text is read, but not yet decoded. Several threads decode them.

use warpint_natural::radix::decimal::Powers;
use warpint_transform::cpu::goldilocks::Pool;

use super::{Entry, Position, Problem, modulus, pem, ssh};

/// The number of bytes of text at which entries are decoded.
const MOST_BYTES: usize = 1 << 23;

/// The text of an entry.
pub(super) enum Text {
    /// A line with an SSH public key or a modulus.
    Line(String),
    /// A line outside the blocks of a file with PEM blocks: the same, or text.
    Beside(String),
    /// The label and the body of a PEM block.
    Block(String, String),
    /// No entry can be read here.
    Bad(Problem),
}

/// Entries of one file in their order, with their positions.
#[derive(Default)]
pub(super) struct Pending {
    entries: Vec<(Position, Text)>,
    bytes: usize,
}

impl Pending {
    /// Adds an entry. Returns whether it is time to decode.
    pub(super) fn add(&mut self, position: Position, text: Text) -> bool {
        self.bytes += match &text {
            Text::Line(line) | Text::Beside(line) => line.len(),
            Text::Block(label, body) => label.len() + body.len(),
            Text::Bad(_) => 0,
        };
        self.entries.push((position, text));
        // The entries themselves take memory too.
        self.bytes + self.entries.len() * size_of::<(Position, Text)>() >= MOST_BYTES
    }

    /// Decodes all entries, in their order.
    pub(super) fn decode(
        self,
        pool: &Pool,
        powers: &Powers,
    ) -> Vec<(Position, Result<Entry, Problem>)> {
        let decoded = pool.each_range(self.entries.len(), |range| {
            let entries = self.entries[range].iter();
            entries.map(|(position, text)| (*position, text.decode(powers))).collect::<Vec<_>>()
        });
        decoded.into_iter().flatten().collect()
    }
}

impl Text {
    fn decode(&self, powers: &Powers) -> Result<Entry, Problem> {
        match self {
            Self::Line(line) => ssh::entry(line).unwrap_or_else(|| modulus::entry(line, powers)),
            Self::Beside(line) => {
                ssh::entry(line).unwrap_or_else(|| modulus::entry(line, powers).or(Ok(Entry::Text)))
            }
            Self::Block(label, body) => pem::entry(label, body),
            Self::Bad(problem) => Err(problem.clone()),
        }
    }
}
