//! Challenges: parts of a device's work that the host does again.
//!
//! A challenged node is looked for in the device's list of the nodes of the last level, after their numbers were walked. The 32
//! nodes that were taken together with it are read back; they must be true nodes of the tree. The host walks
//! their numbers by the slow rules. Their tally, and the end of each of their long numbers, must be the same.
//!
//! Cost of a challenge: one look at the list of nodes and one at that of long numbers, 32 and 10 bytes an entry; some small
//! launches and copies in a row, about 100 µs. The host does the 32 nodes, 2 to 3 ms of one core or more, while the device goes
//! on with other nodes. The challenged node is done once more by the rules alone when the tree has ended.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::Scope;
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

/// Memory on the device for questions, which all trees use.
#[derive(Debug)]
pub(super) struct Asked {
    /// Low bits of nodes.
    keys: Buffer<[u32; 4]>,
    /// Of each key the place, and how many there are.
    found: Buffer<u32>,
    /// The long numbers of some nodes: how many there are, then each with its end.
    ends: Buffer<u64>,
}

/// Keys of one look at a list.
const KEYS: usize = 1024;

impl Asked {
    pub(super) fn new(device: &Device) -> Result<Self, DeviceError> {
        Ok(Self {
            keys: device.alloc(KEYS)?,
            found: device.alloc(2 * KEYS)?,
            ends: device.alloc(1 + 2 * TAKE * 1024)?,
        })
    }
}

/// Who asks.
#[derive(Debug)]
pub(super) struct Examiner<'a> {
    kernels: &'a Kernels,
    judge: &'a Judge<'a>,
}

/// Nodes of one tally, and all that the device says of them.
#[derive(Debug)]
pub(super) struct Taken {
    /// Those of them that are challenged.
    lows: HashSet<u128>,
    /// The place of the first.
    first: usize,
    nodes: Vec<NodeWords>,
    tally: [u32; 4],
    mark: u32,
    /// Long numbers, and their ends.
    ends: Vec<u64>,
    /// Numbers that the host finished.
    given_up: Vec<u128>,
}

/// Who does nodes again, on the host.
#[derive(Debug)]
pub(super) struct Judge<'a> {
    device: &'a Device,
    tree: &'a Tree,
    slow: SlowNodes<'a>,
}

type Verdict = Result<Vec<Answer>, CollatzError>;

/// What came of challenges, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    list: Mutex<BTreeMap<usize, Verdict>>,
}

impl Verdicts {
    fn list(&self) -> MutexGuard<'_, BTreeMap<usize, Verdict>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a challenge was answered wrongly so far, so that nobody works on in vain.
    ///
    /// # Errors
    /// It was.
    pub(super) fn check(&self) -> Result<(), CollatzError> {
        let mut list = self.list();
        let wrong = list.iter().find_map(|(&number, verdict)| verdict.is_err().then_some(number));
        wrong.and_then(|number| list.remove(&number)).map_or(Ok(()), |verdict| verdict.map(drop))
    }

    /// The answers so far, in the order of the challenges.
    ///
    /// # Errors
    /// The first of those that were wrong.
    pub(super) fn take(&self) -> Verdict {
        let verdicts = std::mem::take(&mut *self.list());
        verdicts.into_values().collect::<Result<Vec<_>, _>>().map(|answers| answers.concat())
    }
}

/// Challenges that are judged while the device works on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Court<'a, 'scope> {
    pub scope: &'a Scope<'scope>,
    pub judge: &'scope Judge<'scope>,
    pub verdicts: &'scope Verdicts,
}

impl Court<'_, '_> {
    /// Judges a challenge on another thread.
    pub(super) fn submit(self, number: usize, taken: Taken) {
        let Self { scope, judge, verdicts } = self;
        scope.spawn(move |_| {
            let verdict = judge.judge(&taken);
            verdicts.list().insert(number, verdict);
        });
    }
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
    pub(super) fn new(kernels: &'a Kernels, judge: &'a Judge<'a>) -> Self {
        Self { kernels, judge }
    }

    /// Where nodes of a level stand in a list, if they do: those above challenged ones, whose low bits are given.
    pub(super) fn find(
        &self,
        asked: &mut Asked,
        nodes: &Buffer<NodeWords>,
        range: &Range<usize>,
        level: u32,
        challenged: &[u128],
    ) -> Result<Vec<Option<usize>>, CollatzError> {
        let key = |low: &u128| low & ((1 << level) - 1);
        let keys: BTreeSet<u128> = challenged.iter().map(key).collect();
        if range.is_empty() {
            return Ok(vec![None; challenged.len()]);
        }
        let keys: Vec<u128> = keys.into_iter().collect();
        let mut places = HashMap::new();
        for keys in keys.chunks(KEYS) {
            let words = |low: &u128| [0, 1, 2, 3].map(|i| (low >> (32 * i)) as u32);
            let mut words: Vec<_> = keys.iter().map(words).collect();
            words.resize(KEYS, [0; 4]);
            asked.keys.upload(&words)?;
            asked.found.clear()?;
            let (keys_of, found) = (asked.keys.view(..keys.len()), &mut asked.found);
            self.kernels.find(nodes, range, keys_of, found.cells(..2 * keys.len()))?;
            let found = found.download_part(0..2 * keys.len())?;
            for (key, place) in keys.iter().zip(found.chunks_exact(2)) {
                if place[1] > 1 {
                    let what = format!("the count of nodes {key} mod 2^{level}");
                    return Err(self.judge.refuted(what, place[1], 1));
                }
                if place[1] == 1 {
                    places.insert(*key, place[0] as usize);
                }
            }
        }
        Ok(challenged.iter().map(|low| places.get(&key(low)).copied()).collect())
    }

    /// The same of nodes all of which must be there.
    pub(super) fn find_all(
        &self,
        asked: &mut Asked,
        nodes: &Buffer<NodeWords>,
        range: &Range<usize>,
        level: u32,
        challenged: &[u128],
    ) -> Result<Vec<(usize, u128)>, CollatzError> {
        let places = self.find(asked, nodes, range, level, challenged)?;
        let pairs = challenged.iter().zip(places).map(|(&low, place)| match place {
            Some(place) => Ok((place, low)),
            None => Err(self.judge.missing(level, low)),
        });
        pairs.collect()
    }

    /// Reads the challenged nodes of some work back, with those that were taken together with them, and hands them
    /// over to be done again; leaves those challenged that are not among the nodes.
    pub(super) fn examine(
        &self,
        asked: &mut Asked,
        work: &Work<'_>,
        challenged: &mut Vec<u128>,
        mut submit: impl FnMut(Taken),
    ) -> Result<(), CollatzError> {
        let level = self.judge.tree.level();
        let places = self.find(asked, &work.memory.nodes, &work.range, level, challenged)?;
        let mut takes: BTreeMap<usize, HashSet<u128>> = BTreeMap::new();
        let mut rest = vec![];
        for (&low, place) in challenged.iter().zip(places) {
            match place.and_then(|place| place.checked_sub(work.range.start)) {
                Some(place) => drop(takes.entry(place / TAKE).or_default().insert(low)),
                None => rest.push(low),
            }
        }
        *challenged = rest;
        for (take, lows) in takes {
            submit(self.take(asked, work, take, lows)?);
        }
        Ok(())
    }

    /// All that the device has of 32 nodes.
    fn take(
        &self,
        asked: &mut Asked,
        work: &Work<'_>,
        take: usize,
        lows: HashSet<u128>,
    ) -> Result<Taken, DeviceError> {
        let first = work.range.start + take * TAKE;
        let memory = work.memory;
        asked.ends.clear()?;
        self.kernels.ends(memory, work.places, first, &mut asked.ends)?;
        let nodes = memory.nodes.download_part(first..work.range.end.min(first + TAKE))?;
        let tally = memory.tallies.download_part(take..take + 1)?;
        let long = asked.ends.download_part(0..1)?.first().copied().unwrap_or(0);
        let most = (asked.ends.len() - 1) / 2;
        let long = usize::try_from(long).unwrap_or(most).min(most);
        Ok(Taken {
            lows,
            first,
            nodes,
            tally: tally.first().copied().unwrap_or_default(),
            mark: work.mark,
            ends: asked.ends.download_part(0..1 + 2 * long)?,
            given_up: work.given_up.to_vec(),
        })
    }
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        device: &'a Device,
        tree: &'a Tree,
        tables: &'a Tables,
        walker: &'a Walker,
    ) -> Self {
        let slow = SlowNodes::new(tree, walker).with_steps(&tables.steps.words);
        Self { device, tree, slow }
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

    pub(super) fn missing(&self, level: u32, low: u128) -> CollatzError {
        let key = low & ((1 << level) - 1);
        self.refuted(format!("the node {key} mod 2^{level}"), "missing", "one of the list")
    }

    /// The answers to the challenges of some nodes, if the device has all of these nodes right.
    fn judge(&self, taken: &Taken) -> Verdict {
        let walks = self.walks(taken)?;
        let wanted = walks.into_iter().filter(|(low, _)| taken.lows.contains(low));
        Ok(wanted.map(|(low, walks)| Answer { low, share: walks.share() }).collect())
    }

    /// Does nodes again: their low bits and their walks, all as the device has them.
    fn walks(&self, taken: &Taken) -> Result<Vec<(u128, NodeWalks)>, CollatzError> {
        let Taken { first, nodes, tally, .. } = taken;
        let walks: Vec<(u128, Option<NodeWalks>)> = nodes
            .par_iter()
            .map(|words| {
                let low = low(words);
                let node = self.slow.node(low).filter(|node| node.words() == *words);
                (low, node.map(|node| self.slow.walks(&node)))
            })
            .collect();
        let mut all: Vec<(u128, NodeWalks)> = vec![];
        for (place, (low, walks)) in (*first..).zip(walks) {
            let walks = walks.filter(|_| all.iter().all(|(other, _)| *other != low));
            let walks =
                walks.ok_or_else(|| self.refuted(format!("node {place}"), low, "another"))?;
            all.push((low, walks));
        }
        let of = |value: fn(&NodeWalks) -> u64| all.iter().map(|(_, walks)| value(walks)).sum();
        let long: u64 = of(|walks| walks.long.len() as u64);
        let expected = [of(|walks| walks.walked), of(|walks| walks.killed_odd), long];
        let expected: Vec<u64> = expected.into_iter().chain([taken.mark.into()]).collect();
        let found: Vec<u64> = tally.iter().map(|&word| word.into()).collect();
        if found != expected {
            let what = format!("the tally of {} nodes with the node {}", all.len(), all[0].0);
            return Err(self.refuted(what, format!("{found:?}"), format!("{expected:?}")));
        }
        self.compare_ends(taken, &all)?;
        Ok(all)
    }

    /// Whether the long numbers of some nodes are listed, once each, with their ends.
    fn compare_ends(&self, taken: &Taken, nodes: &[(u128, NodeWalks)]) -> Result<(), CollatzError> {
        let long = nodes.iter().map(|(_, walks)| walks.long.len()).sum::<usize>() as u64;
        let ends = taken.ends.split_first();
        let (count, entries) = ends.map_or((0, &[][..]), |(&n, rest)| (n, rest));
        if count != long {
            let what = format!("the count of long numbers of nodes with the node {}", nodes[0].0);
            return Err(self.refuted(what, count, long));
        }
        let entries: HashMap<u64, u64> =
            entries.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        for (place, (low, walks)) in (taken.first as u64..).zip(nodes) {
            for &(a, end) in &walks.long {
                let n = self.tree.number(*low, a);
                let found = entries.get(&(place << 10 | u64::from(a))).copied();
                let is_right = match found {
                    Some(GIVEN_UP) => taken.given_up.contains(&n),
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
