//! Challenges: parts of a device's work that the host does again.
//!
//! A challenged node is looked for in the device's list of the nodes of the last level, after their numbers were walked. The 32
//! nodes that were taken together with it are read back; they must be true nodes of the tree. The host walks
//! their numbers by the slow rules. Their tally, and the end of each of their long numbers, must be the same.
//!
//! Cost of a challenge: one look at the list of nodes and one at that of long numbers, 32 and 10 bytes an entry; four small
//! launches or copies in a row, some 60 µs; 32 nodes on the host, 2 to 3 ms of one core, shared by all. The challenged node is done
//! once more by the rules alone when the tree has ended.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use rayon::prelude::*;
use warpint_device::{Buffer, Device, DeviceError};

use super::kernels::Kernels;
use super::{LastMemory, NodeWords};
use crate::CollatzError;
use crate::evidence::nodes::{NodeWalks, SlowNodes};
use crate::sieve::{Answer, Tables, Tree};
use crate::walk::Walker;

/// Nodes of a tally.
pub(super) const TAKE: usize = 32;
/// Of a number that the device gave up.
const GIVEN_UP: u64 = 0xffff;

/// The low bits of a node, as the device has them.
fn low(words: &NodeWords) -> u128 {
    words[..3].iter().rev().fold(0, |low, &word| low << 32 | u128::from(word))
}

/// Who asks.
#[derive(Debug)]
pub(super) struct Examiner<'a> {
    device: &'a Device,
    tree: &'a Tree,
    kernels: &'a Kernels,
    slow: SlowNodes<'a>,
}

/// What was walked, and what came of it.
#[derive(Debug)]
pub(super) struct Work<'a> {
    pub memory: &'a LastMemory,
    /// Nodes walked.
    pub range: Range<usize>,
    /// Of their tallies.
    pub mark: u32,
    /// Places of the list of long numbers.
    pub places: usize,
    /// Numbers that the host finished.
    pub given_up: &'a [u128],
}

impl<'a> Examiner<'a> {
    pub(super) fn new(
        device: &'a Device,
        tree: &'a Tree,
        kernels: &'a Kernels,
        tables: &'a Tables,
        walker: &'a Walker,
    ) -> Self {
        let slow = SlowNodes::new(tree, walker).with_steps(&tables.steps.words);
        Self { device, tree, kernels, slow }
    }

    /// A result of the device that is not what the host has.
    pub(super) fn refuted(
        &self,
        what: impl Into<String>,
        found: impl ToString,
        expected: impl ToString,
    ) -> CollatzError {
        let (place, tree) = (&self.device.info().id, self.tree.described());
        CollatzError::refuted(place, &tree, what, found, expected)
    }

    /// Where nodes of a level stand in a list, if they do: those above challenged ones, whose low bits are given.
    pub(super) fn find(
        &self,
        nodes: &Buffer<NodeWords>,
        range: &Range<usize>,
        level: u32,
        challenged: &[u128],
    ) -> Result<Vec<Option<usize>>, CollatzError> {
        let key = |low: &u128| low & ((1 << level) - 1);
        let keys: BTreeSet<u128> = challenged.iter().map(key).collect();
        if keys.is_empty() || range.is_empty() {
            return Ok(vec![None; challenged.len()]);
        }
        let words = |low: &u128| [0, 1, 2, 3].map(|i| (low >> (32 * i)) as u32);
        let uploaded = self.device.upload(&keys.iter().map(words).collect::<Vec<_>>())?;
        let mut found = self.device.alloc::<u32>(2 * keys.len())?;
        found.clear()?;
        self.kernels.find(nodes, range, &uploaded, &mut found)?;
        let found = found.download()?;
        let mut places = HashMap::new();
        for (key, place) in keys.iter().zip(found.chunks_exact(2)) {
            if place[1] > 1 {
                let what = format!("the count of nodes {key} mod 2^{level}");
                return Err(self.refuted(what, place[1], 1));
            }
            if place[1] == 1 {
                places.insert(*key, place[0] as usize);
            }
        }
        Ok(challenged.iter().map(|low| places.get(&key(low)).copied()).collect())
    }

    /// The same of nodes all of which must be there.
    pub(super) fn find_all(
        &self,
        nodes: &Buffer<NodeWords>,
        range: &Range<usize>,
        level: u32,
        challenged: &[u128],
    ) -> Result<Vec<(usize, u128)>, CollatzError> {
        let places = self.find(nodes, range, level, challenged)?;
        let pairs = challenged.iter().zip(places).map(|(&low, place)| match place {
            Some(place) => Ok((place, low)),
            None => Err(self.missing(level, low)),
        });
        pairs.collect()
    }

    pub(super) fn missing(&self, level: u32, low: u128) -> CollatzError {
        let key = low & ((1 << level) - 1);
        self.refuted(format!("the node {key} mod 2^{level}"), "missing", "one of the list")
    }

    /// Does the challenged nodes of some work again, with those that were taken together with them; leaves those
    /// challenged that are not among the nodes.
    pub(super) fn examine(
        &self,
        work: &Work<'_>,
        challenged: &mut Vec<u128>,
    ) -> Result<Vec<Answer>, CollatzError> {
        let places = self.find(&work.memory.nodes, &work.range, self.tree.level(), challenged)?;
        let mut takes: BTreeMap<usize, HashSet<u128>> = BTreeMap::new();
        let mut rest = vec![];
        for (&low, place) in challenged.iter().zip(places) {
            match place.and_then(|place| place.checked_sub(work.range.start)) {
                Some(place) => drop(takes.entry(place / TAKE).or_default().insert(low)),
                None => rest.push(low),
            }
        }
        *challenged = rest;
        let mut answers = vec![];
        for (take, lows) in takes {
            let walks = self.take(work, take)?;
            let wanted = walks.into_iter().filter(|(low, _)| lows.contains(low));
            answers.extend(wanted.map(|(low, walks)| Answer { low, share: walks.share() }));
        }
        Ok(answers)
    }

    /// Does 32 nodes again: their low bits and their walks, all as the device has them.
    fn take(&self, work: &Work<'_>, take: usize) -> Result<Vec<(u128, NodeWalks)>, CollatzError> {
        let first = work.range.start + take * TAKE;
        let memory = work.memory;
        let mut ends = self.device.alloc::<u64>(1 + 2 * TAKE * 1024)?;
        ends.clear()?;
        self.kernels.ends(memory, work.places, first, &mut ends)?;
        let nodes = memory.nodes.download_part(first..work.range.end.min(first + TAKE))?;
        let tally = memory.tallies.download_part(take..take + 1)?;
        let walks: Vec<(u128, Option<NodeWalks>)> = nodes
            .par_iter()
            .map(|words| {
                let low = low(words);
                let node = self.slow.node(low).filter(|node| node.words() == *words);
                (low, node.map(|node| self.slow.walks(&node)))
            })
            .collect();
        let mut all: Vec<(u128, NodeWalks)> = vec![];
        for (place, (low, walks)) in (first..).zip(walks) {
            let walks = walks.filter(|_| all.iter().all(|(other, _)| *other != low));
            let walks =
                walks.ok_or_else(|| self.refuted(format!("node {place}"), low, "another"))?;
            all.push((low, walks));
        }
        let of = |value: fn(&NodeWalks) -> u64| all.iter().map(|(_, walks)| value(walks)).sum();
        let long: u64 = of(|walks| walks.long.len() as u64);
        let expected = [of(|walks| walks.walked), of(|walks| walks.killed_odd), long];
        let expected: Vec<u64> = expected.into_iter().chain([work.mark.into()]).collect();
        let found: Vec<u64> = tally.iter().flatten().map(|&word| word.into()).collect();
        if found != expected {
            let what = format!("the tally of {} nodes with the node {}", all.len(), all[0].0);
            return Err(self.refuted(what, format!("{found:?}"), format!("{expected:?}")));
        }
        let ends = ends.download_part(0..1 + 2 * long as usize)?;
        self.compare_ends(work, first, &all, &ends)?;
        Ok(all)
    }

    /// Whether the long numbers of some nodes are listed, once each, with their ends.
    fn compare_ends(
        &self,
        work: &Work<'_>,
        first: usize,
        nodes: &[(u128, NodeWalks)],
        found: &[u64],
    ) -> Result<(), CollatzError> {
        let long = nodes.iter().map(|(_, walks)| walks.long.len()).sum::<usize>() as u64;
        let (count, entries) = found.split_first().map_or((0, &[][..]), |(&n, rest)| (n, rest));
        if count != long {
            let what = format!("the count of long numbers of nodes with the node {}", nodes[0].0);
            return Err(self.refuted(what, count, long));
        }
        let entries: HashMap<u64, u64> =
            entries.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        for (place, (low, walks)) in (first as u64..).zip(nodes) {
            for &(a, end) in &walks.long {
                let n = self.tree.number(*low, a);
                let found = entries.get(&(place << 10 | u64::from(a))).copied();
                let is_right = match found {
                    Some(GIVEN_UP) => work.given_up.contains(&n),
                    Some(_) => found == end,
                    None => false,
                };
                if !is_right {
                    let text = |end: Option<u64>| end.map_or("none".into(), |end| end.to_string());
                    let what = format!("the count of odd steps of {n}");
                    return Err(self.refuted(what, text(found), text(end)));
                }
            }
        }
        Ok(())
    }
}

/// Tallies that nodes have.
pub(super) fn takes(nodes: usize) -> usize {
    nodes.div_ceil(TAKE)
}

/// The memory of tallies of so many nodes.
pub(super) fn tallies(device: &Device, nodes: usize) -> Result<Buffer<[u32; 4]>, DeviceError> {
    device.alloc(takes(nodes))
}
