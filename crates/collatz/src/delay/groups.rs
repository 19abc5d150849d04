//! Groups of residues whose numbers have equal delays.

use super::tables::steps;

/// The residues modulo 2^k in groups. Let T(n) be n/2 for even n and (3n + 1)/2 for odd n. All
/// residues `low` of a group have the same value c = T^k(low), and the same number f of odd steps
/// among the k steps of T.
///
/// **Lemma.** Let low and low' be in a group. For every a, the numbers low + a·2^k and low' + a·2^k
/// have the same value T^k, which is c + a·3^f. They reach it after k + f steps n/2 and 3n + 1. If
/// both numbers are at least 2^k, neither path passes 1 within these steps. Then the two numbers
/// have the same delay, and from the value c + a·3^f on they have the same path.
///
/// Of the 2^20 residues for k = 20, 246,912 are the smallest of their group.
#[derive(Debug, Clone)]
pub(crate) struct Groups {
    bits: u32,
    /// Pairs (key, residue), ascending. The key of a residue is c + 2^32·f, with c and f as defined
    /// at [`Groups`].
    residues: Vec<(u64, u32)>,
}

impl Groups {
    /// Computes the groups of the residues modulo 2^k for k = `bits` ≤ 20.
    pub(crate) fn new(bits: u32) -> Self {
        let mut residues: Vec<_> = (0..1u32 << bits).map(|low| (key(low, bits), low)).collect();
        residues.sort_unstable();
        Self { bits, residues }
    }

    /// Returns a list with two entries per group: its smallest residue, and its size. Groups with
    /// the same number of odd steps are adjacent.
    pub(crate) fn heads(&self) -> Vec<u32> {
        self.all().flat_map(|(_, _, group)| [group[0].1, group.len() as u32]).collect()
    }

    /// Returns (c, f, members) for each group, as defined at [`Groups`]: the common value c =
    /// T^k(low), the common number f of odd steps, and the pairs (key, residue), ascending, where
    /// the key of a residue is c + 2^32·f.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u32, u32, &[(u64, u32)])> {
        let groups = self.residues.chunk_by(|a, b| a.0 == b.0);
        groups.map(|group| (group[0].0 as u32, (group[0].0 >> 32) as u32, group))
    }

    /// Returns the pairs (key, residue) of the group that contains `residue`, ascending. The key of
    /// a residue is c + 2^32·f, with c and f as defined at [`Groups`].
    pub(crate) fn of(&self, residue: u32) -> &[(u64, u32)] {
        let key = key(residue, self.bits);
        let first = self.residues.partition_point(|other| other.0 < key);
        let len = self.residues[first..].partition_point(|other| other.0 == key);
        &self.residues[first..first + len]
    }
}

fn key(low: u32, bits: u32) -> u64 {
    let (c, odd) = steps(low, bits);
    u64::from(odd) << 32 | u64::from(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delay::plain_delay;

    #[test]
    fn groups_are_all_residues_with_equal_delays() {
        for bits in [0, 1, 5, 8] {
            let groups = Groups::new(bits);
            let heads = groups.heads();
            let all: u32 = heads.chunks(2).map(|head| head[1]).sum();
            assert_eq!(all, 1 << bits);
            for head in heads.chunks(2) {
                let group = groups.of(head[0]);
                assert_eq!((group[0].1, group.len()), (head[0], head[1] as usize));
                for a in [1u128, 2, 7, 1000] {
                    let delay = |low: u32| plain_delay(u128::from(low) + (a << bits));
                    assert!(group.iter().all(|&(_, low)| delay(low) == delay(head[0])));
                }
            }
        }
        assert_eq!(Groups::new(20).heads().len() / 2, 246_912);
    }
}
