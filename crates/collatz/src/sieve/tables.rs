//! The tables that the kernels read.

use super::last::{inverses, mod_9, powers};
use super::node::Node;
use super::rules::Limits;
use super::steps::Steps;
use super::tree::Tree;

/// The tables for the kernels that process a tree. All trees that differ only in the root have the
/// same tables.
#[derive(Debug, Clone)]
pub(crate) struct Tables {
    /// The tree to which the tables belong. Its root is replaced by the root of all numbers,
    /// because the tables do not depend on the root.
    of: Tree,
    /// The powers 3^i mod 2^128, each with the lowest word first.
    pub powers: Vec<[u32; 4]>,
    /// The inverse powers 3^(−i) mod 2^32.
    pub inverses: Vec<u32>,
    pub steps: Steps,
    /// The table of the rule of residues modulo 9, as [`mod_9`] returns it.
    pub mod_9: Vec<u32>,
    /// The limits of the steps that the look-ahead vectors cover: descent, run, preimage and 0 for
    /// each step.
    pub limits: Vec<[u32; 4]>,
    /// The limits of the steps from level 0 to the last level: descent, run and preimage for each
    /// step.
    pub grow: Vec<[u32; 3]>,
}

impl Tables {
    pub(crate) fn new(tree: &Tree) -> Self {
        // No number has more odd steps, not even those of the last vector. The kernels take odd
        // steps modulo this.
        let most = 128;
        let word = |x: u128, i: u32| (x >> (32 * i)) as u32;
        let words = |x: u128| [0, 1, 2, 3].map(|i| word(x, i));
        let three = |limits: &Limits| [limits.descent, limits.run, limits.preimage];
        let four = |limits: &Limits| [limits.descent, limits.run, limits.preimage, 0];
        Self {
            of: without_root(tree),
            powers: powers(most).into_iter().map(words).collect(),
            inverses: inverses(most),
            steps: Steps::new(tree),
            mod_9: mod_9(tree),
            limits: tree.limits(0, tree.look.bits()).iter().map(four).collect(),
            grow: Limits::from(0, tree.level, tree.rules).iter().map(three).collect(),
        }
    }

    /// Returns whether the tables are valid for `tree`: it must equal the tree for which the tables
    /// were computed, except for the root.
    pub(crate) fn suit(&self, tree: &Tree) -> bool {
        self.of == without_root(tree)
    }
}

fn without_root(tree: &Tree) -> Tree {
    Tree { root: Node::ROOT, root_level: 0, ..tree.clone() }
}
