//! Division of a region into trees, and into other parts that have too few or too small numbers for
//! a tree.
//!
//! T(n) is n/2 for even n and (3n + 1)/2 for odd n.

use super::last::LAST;
use super::node::Node;
use super::rules::Limits;
use super::tree::Tree;
use super::{Looking, Shape, powers};
use crate::descent::LEAST;
use crate::{CollatzError, Region};

/// A part of a region: a tree, or numbers walked one by one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Tree(Tree),
    /// Numbers that are walked one by one. `counted` is false if they also belong to a tree, where
    /// they are counted.
    Plain {
        region: Region,
        counted: bool,
    },
}

/// log2 of the least count of numbers in an interval or a class for which a tree is used.
const LEAST_BITS: u32 = 16;

/// Returns the parts of a region, in ascending order. `most` is the largest number of steps that
/// look-ahead vectors may cover.
///
/// # Errors
/// [`CollatzError::TooLarge`] if numbers are too large for the kernels' 128 bits.
pub(crate) fn pieces(
    region: &Region,
    shape: Shape,
    most: Looking,
) -> Result<Vec<Piece>, CollatzError> {
    let mut pieces = vec![];
    let tree = |root, root_level, level, top| tree(root, root_level, level, top, shape, most);
    match *region {
        Region::Interval { from, to } => {
            for (begin, bits) in windows(from, to) {
                if bits < LEAST_BITS {
                    let region = Region::Interval { from: begin, to: begin + (1 << bits) };
                    pieces.push(Piece::Plain { region, counted: true });
                    continue;
                }
                if begin < LEAST {
                    let region =
                        Region::Interval { from: begin, to: LEAST.min(begin + (1 << bits)) };
                    pieces.push(Piece::Plain { region, counted: false });
                }
                let top = (begin >> bits) << LAST;
                pieces.push(Piece::Tree(tree(Node::ROOT, 0, bits - LAST, top)?));
            }
        }
        Region::Class { bits, low_bits, residue } if bits >= low_bits + LEAST_BITS => {
            let small = bits.min(LEAST.ilog2());
            if small > low_bits {
                let region = Region::Class { bits: small, low_bits, residue };
                pieces.push(Piece::Plain { region, counted: false });
            } else if residue < LEAST {
                let region = Region::Interval { from: residue, to: residue + 1 };
                pieces.push(Piece::Plain { region, counted: false });
            }
            // Checked before a root is grown that may exceed its words.
            fits(bits - LAST, 0)?;
            if let Some(root) = root(low_bits, residue, shape) {
                pieces.push(Piece::Tree(tree(root, low_bits, bits - LAST, 0)?));
            }
        }
        class @ Region::Class { .. } => {
            pieces.push(Piece::Plain { region: class, counted: true });
        }
    }
    Ok(pieces)
}

/// Returns the node that contains the numbers congruent to `residue` modulo 2^`low_bits`. Returns
/// `None` if a rule excludes all these numbers.
fn root(low_bits: u32, residue: u128, shape: Shape) -> Option<Node> {
    let powers = powers(low_bits + 1);
    (0..low_bits).try_fold(Node::ROOT, |node, k| {
        let bit = (residue >> k & 1) as u32;
        node.child(k, bit, powers[node.odd as usize], &Limits::of(k, shape.rules))
    })
}

fn tree(
    root: Node,
    root_level: u32,
    level: u32,
    top: u128,
    shape: Shape,
    most: Looking,
) -> Result<Tree, CollatzError> {
    let bits = level + LAST - root_level;
    let look = shape.look.unwrap_or_else(|| Looking::for_numbers(bits).min(most));
    fits(level, top)?;
    let rules = shape.rules;
    Ok(Tree { root, root_level, level, top, rules, look, step: shape.step })
}

/// Returns an error unless T^level(n) < 2^126 for all numbers n = low + t·2^level with low <
/// 2^level and t < top + 2^10. With f ≤ level odd steps, T^level(n) = T^level(low) + t·3^f, and
/// T^level(low) < 3^f. If the function returns no error, low fits in 96 bits.
fn fits(level: u32, top: u128) -> Result<(), CollatzError> {
    let growth = level * 1585 / 1000 + 1;
    let top_bits = 128 - (top + (1 << LAST)).leading_zeros();
    if growth + top_bits > 126 {
        return Err(CollatzError::TooLarge { level, top_bits });
    }
    Ok(())
}

/// Divides [from, to) into aligned intervals [h·2^bits, (h + 1)·2^bits), each as large as possible.
/// Returns the pair (first number, bits) of each interval, in ascending order.
fn windows(from: u128, to: u128) -> Vec<(u128, u32)> {
    let (mut windows, mut at) = (vec![], from);
    while at < to {
        let bits = at.trailing_zeros().min((to - at).ilog2());
        windows.push((at, bits));
        at += 1 << bits;
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_aligned_and_complete() {
        for (from, to) in
            [(0, 1 << 70), (5, 6), (0, 7), (12_345, 987_654_321), ((1 << 70) - 3, (1 << 71) + 9)]
        {
            let mut at = from;
            for (begin, bits) in windows(from, to) {
                assert_eq!(begin, at);
                assert_eq!(begin % (1 << bits), 0);
                at = begin + (1 << bits);
            }
            assert_eq!(at, to);
        }
    }
}
