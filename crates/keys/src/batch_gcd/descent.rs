//! The scaled remainder tree, from the root to the gcds of the leaves.

use warpint_natural::euclid::Euclid;
use warpint_natural::limbs::{add_assign, compare};
use warpint_natural::product::Products;

use super::tree::{By, Tree, Work};

/// The index of a modulus within its group, and its gcd with the product of the others.
pub(super) type Found = (usize, Vec<u64>);

impl Work<'_> {
    /// Returns the gcds above 1 of the moduli of a tree. `x` is the fraction of its root.
    pub(super) fn descend(&self, tree: &Tree, x: Vec<u64>) -> Option<Vec<Found>> {
        let alone = self.alone(tree.product().len());
        let mut subtrees = vec![];
        let mut by = By::All(self.multiplier);
        self.fractions(tree, x, alone, &mut by, &mut |tree, x| subtrees.push((tree, x)))?;
        let found = self.multiplier.pool().each(subtrees.len(), |i| {
            let (tree, x) = &subtrees[i];
            let (mut by, mut euclid) = (By::one(), Euclid::default());
            let mut found = vec![];
            let mut leaf = |tree: &Tree, x: Vec<u64>| {
                if let Tree::Leaf(modulus, index) = tree
                    && let Some(gcd) = of_leaf(modulus, &x, &mut euclid)
                {
                    found.push((*index, gcd));
                }
            };
            self.fractions(tree, x.clone(), 0, &mut by, &mut leaf)?;
            Some(found)
        });
        let found: Option<Vec<Vec<Found>>> = found.into_iter().collect();
        Some(found?.concat())
    }

    /// Computes the fractions of the nodes below a node with the fraction `x`. Calls `end` with the
    /// leaves and the nodes of at most `alone` limbs, and does not go on below them.
    fn fractions<'t>(
        &self,
        tree: &'t Tree<'t>,
        x: Vec<u64>,
        alone: usize,
        by: &mut By,
        end: &mut dyn FnMut(&'t Tree<'t>, Vec<u64>),
    ) -> Option<()> {
        let (product, halves) = match tree {
            Tree::Node(product, halves) if product.len() > alone => (product, halves),
            _ => {
                end(tree, x);
                return Some(());
            }
        };
        self.node(product.len(), "remainder tree")?;
        let [left, right] = &**halves;
        let child = |by: &mut By, other: &Tree| {
            let other = other.product();
            let mut whole = by.mul(&x, other);
            whole.truncate(x.len());
            whole.drain(..other.len());
            whole
        };
        let of_left = child(by, right);
        let of_right = child(by, left);
        drop(x);
        self.fractions(left, of_left, alone, by, end)?;
        self.fractions(right, of_right, alone, by, end)
    }
}

/// Returns gcd(n, r) if it is above 1, where r = ⌈X·n/B^(w+1)⌉ and w is the number of limbs of n.
fn of_leaf(modulus: &[u64], x: &[u64], euclid: &mut Euclid) -> Option<Vec<u64>> {
    let mut whole = vec![0; modulus.len() + x.len()];
    Products::default().mul(&mut whole, x, modulus);
    let (low, r) = whole.split_at_mut(x.len());
    if low.iter().any(|&limb| limb != 0) {
        // r ≤ n.
        add_assign(r, &[1]);
    }
    let gcd = euclid.gcd(modulus, r);
    compare(gcd, &[1]).is_gt().then(|| gcd.to_vec())
}
