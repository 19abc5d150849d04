//! Challenges: parts of a device's work that the host repeats.
//!
//! After a device has walked the numbers of a list of nodes of the last level, the host searches
//! that list for a challenged node. It reads back the tally that includes the challenged node, and
//! all nodes of this tally, usually 32. All of them must be nodes of the tree. The host walks their
//! numbers step by step, without the look-ahead vectors and the table of residues modulo 9. The
//! device's tally, and its number of odd steps of each long number of these nodes, must equal the
//! results of the host.
//!
//! A challenge costs the device one scan of the list of nodes, at 32 bytes per entry, and a scan of
//! one seventh of the list of long numbers: about 100 µs for a list of 10^7 nodes. Three launches
//! and one copy to the host are needed. On the host, one thread needs 2 to 3 ms or more for the 32
//! nodes, while the device continues with other nodes. While the tree is walked, the host also
//! recomputes the challenged node without any table, on other threads.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::Scope;
use warpint_device::{Buffer, Device, DeviceError};

use super::kernels::{HEAD, Kernels};
use super::{LastMemory, NodeWords};
use crate::CollatzError;
use crate::evidence::nodes::{NodeWalks, SlowNodes};
use crate::sieve::{Answer, LAST, Node, Tables, Tree};
use crate::walk::Walker;

/// The number of nodes whose results one tally sums. The last tally of a range may have fewer.
pub(super) const TAKE: usize = 32;
/// The device writes this value in place of a count of odd steps if it left the number to the host.
const GIVEN_UP: u64 = 0xffff;

/// Returns the low bits of a node, given as the eight words of the device's format.
fn low(words: &NodeWords) -> u128 {
    words[..3].iter().rev().fold(0, |low, &word| low << 32 | u128::from(word))
}

/// Device memory for challenges, shared by all trees.
#[derive(Debug)]
pub(super) struct Asked {
    /// The low bits of the nodes to search for.
    keys: Buffer<[u32; 4]>,
    /// Two words for each key: the index of the node with this key in the list of nodes, and the
    /// number of nodes that have the key.
    found: Buffer<u32>,
    /// The device's results for nodes that were found.
    answers: Buffer<u64>,
}

/// The largest number of keys per search of a list.
const KEYS: usize = 1024;
/// The number of keys whose results are read back together.
const ANSWERS: usize = 8;
/// The count of long numbers for which each result has room when several results are read back
/// together. It is about five times the average count for 32 nodes. A result that is read back
/// alone has room for all numbers of the 32 nodes.
const ROOM: usize = 1024;
/// The count of numbers of the 32 nodes of a tally.
const ALL: usize = TAKE << LAST;

impl Asked {
    pub(super) fn new(device: &Device) -> Result<Self, DeviceError> {
        Ok(Self {
            keys: device.alloc(KEYS)?,
            found: device.alloc(2 * KEYS)?,
            answers: device.alloc((ANSWERS * (HEAD + 2 * ROOM)).max(HEAD + 2 * ALL))?,
        })
    }
}

/// The part of the host's code that searches the device's lists for challenged nodes and reads back
/// their results.
#[derive(Debug)]
pub(super) struct Examiner<'a> {
    kernels: &'a Kernels,
    judge: &'a Judge<'a>,
}

/// The nodes of one tally, with all results of the device for them.
#[derive(Debug)]
pub(super) struct Taken {
    /// The low bits of the challenged nodes of the tally.
    lows: HashSet<u128>,
    /// The index, in the device's list, of the first node of the tally.
    first: usize,
    nodes: Vec<NodeWords>,
    tally: [u32; 4],
    mark: u32,
    /// The count of long numbers of all nodes of the tally.
    long: u64,
    /// Two words for each long number: its entry in the list of long numbers, and its number of odd
    /// steps.
    ends: Vec<u64>,
    /// The numbers that the device left to the host. The host has walked them.
    given_up: Vec<u128>,
}

/// The part of the host's code that recomputes nodes and compares the results with the device's.
#[derive(Debug)]
pub(super) struct Judge<'a> {
    device: &'a Device,
    tree: &'a Tree,
    slow: SlowNodes<'a>,
}

type Verdict = Result<Vec<Answer>, CollatzError>;

/// The results of the checks of answers so far, in the order in which the answers were submitted.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    list: Mutex<BTreeMap<usize, Verdict>>,
}

impl Verdicts {
    fn list(&self) -> MutexGuard<'_, BTreeMap<usize, Verdict>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns an error if a check has failed so far, so that the work can end early.
    ///
    /// # Errors
    /// The error of a failed check.
    pub(super) fn check(&self) -> Result<(), CollatzError> {
        let mut list = self.list();
        let wrong = list.iter().find_map(|(&number, verdict)| verdict.is_err().then_some(number));
        wrong.and_then(|number| list.remove(&number)).map_or(Ok(()), |verdict| verdict.map(drop))
    }

    /// Returns the answers checked so far, in the order in which they were submitted.
    ///
    /// # Errors
    /// The error of the first failed check.
    pub(super) fn take(&self) -> Verdict {
        let verdicts = std::mem::take(&mut *self.list());
        verdicts.into_values().collect::<Result<Vec<_>, _>>().map(|answers| answers.concat())
    }
}

/// The checks of answers to challenges, which run on other threads while the device continues.
#[derive(Debug, Clone, Copy)]
pub(super) struct Court<'a, 'scope> {
    pub scope: &'a Scope<'scope>,
    pub judge: &'scope Judge<'scope>,
    pub verdicts: &'scope Verdicts,
}

impl Court<'_, '_> {
    /// Starts the check of answer `number` on another thread.
    pub(super) fn submit(self, number: usize, taken: Taken) {
        let Self { scope, judge, verdicts } = self;
        scope.spawn(move |_| {
            let verdict = judge.judge(&taken);
            verdicts.list().insert(number, verdict);
        });
    }
}

/// A range of nodes whose numbers the device has walked, with the results.
#[derive(Debug)]
pub(super) struct Work<'a> {
    pub memory: &'a LastMemory,
    /// The indices of the nodes.
    pub range: Range<usize>,
    /// The number of used places of the list of long numbers.
    pub places: usize,
    /// The numbers that the device left to the host. The host has walked them.
    pub given_up: &'a [u128],
}

impl<'a> Examiner<'a> {
    pub(super) fn new(kernels: &'a Kernels, judge: &'a Judge<'a>) -> Self {
        Self { kernels, judge }
    }

    /// Searches the entries `range` of a list of nodes of level `level` for the nodes above the
    /// challenged nodes. The challenged nodes belong to the last level and are given by their low
    /// bits. For each challenged node, returns the index of the node above it in the list. The
    /// index is `None` if these entries do not contain that node. Returns an error if they contain
    /// it more than once.
    pub(super) fn find(
        &self,
        asked: &mut Asked,
        nodes: &Buffer<NodeWords>,
        range: &Range<usize>,
        level: u32,
        challenged: &[u128],
    ) -> Result<Vec<Option<usize>>, CollatzError> {
        let key = |low: &u128| low & ((1 << level) - 1);
        let keys: Vec<u128> = sorted(challenged.iter().map(key));
        let mut places = HashMap::new();
        for keys in keys.chunks(KEYS) {
            self.look_for(asked, nodes, range, keys)?;
            let found = asked.found.download_part(0..2 * keys.len())?;
            for (&key, found) in keys.iter().zip(found.chunks_exact(2)) {
                if let Some(place) = self.place(found[0], found[1], key, level)? {
                    places.insert(key, place);
                }
            }
        }
        Ok(challenged.iter().map(|low| places.get(&key(low)).copied()).collect())
    }

    /// Starts a search of the entries `range` of a list of nodes. The keys are the low bits of the
    /// nodes to find; they ascend, and there are at most [`KEYS`].
    fn look_for(
        &self,
        asked: &mut Asked,
        nodes: &Buffer<NodeWords>,
        range: &Range<usize>,
        keys: &[u128],
    ) -> Result<(), DeviceError> {
        let words = |low: &u128| [0, 1, 2, 3].map(|i| (low >> (32 * i)) as u32);
        let mut words: Vec<_> = keys.iter().map(words).collect();
        words.resize(KEYS, [0; 4]);
        asked.keys.upload(&words)?;
        asked.found.clear()?;
        let (keys, found) = (asked.keys.view(..keys.len()), asked.found.cells(..2 * keys.len()));
        self.kernels.find(nodes, range, keys, found)
    }

    /// Evaluates the result of a search for the node of level `level` whose low bits are `key`.
    /// `count` is the number of nodes found, and `place` is the index of such a node. Returns
    /// `place` if `count` is 1, and `None` if `count` is 0. Returns an error if `count` is larger.
    fn place(
        &self,
        place: u32,
        count: u32,
        key: u128,
        level: u32,
    ) -> Result<Option<usize>, CollatzError> {
        match count {
            0 => Ok(None),
            1 => Ok(Some(place as usize)),
            _ => {
                let what = format!("the count of nodes {key} mod 2^{level}");
                Err(self.judge.refuted(what, count, 1))
            }
        }
    }

    /// Like [`Self::find`], but returns a pair for each challenged node: the index in the list, and
    /// the low bits of the challenged node. Returns an error if a node is missing from the searched
    /// entries.
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

    /// Reads back the results for all challenged nodes whose numbers were walked in `work`,
    /// together with the nodes of the same tallies. Calls `submit` once for each tally. Challenged
    /// nodes that were not walked remain in `challenged`.
    pub(super) fn examine(
        &self,
        asked: &mut Asked,
        work: &Work<'_>,
        challenged: &mut Vec<u128>,
        submit: impl FnMut(Taken),
    ) -> Result<(), CollatzError> {
        let mut takes: BTreeMap<usize, Taken> = BTreeMap::new();
        let keys = sorted(challenged.drain(..));
        for keys in keys.chunks(KEYS) {
            self.look_for(asked, &work.memory.nodes, &work.range, keys)?;
            for (begin, lows) in (0..).step_by(ANSWERS).zip(keys.chunks(ANSWERS)) {
                let answers = self.take(asked, work, begin..begin + lows.len(), ROOM)?;
                for (key, (&low, answer)) in (begin..).zip(lows.iter().zip(answers)) {
                    let Some(first) = self.first(work, &answer, low)? else {
                        challenged.push(low);
                        continue;
                    };
                    if let Some(taken) = takes.get_mut(&first) {
                        taken.lows.insert(low);
                        continue;
                    }
                    let has_all = answer[1] <= ROOM as u64;
                    let whole =
                        if has_all { vec![] } else { self.take(asked, work, key..key + 1, ALL)? };
                    let answer = whole.first().unwrap_or(&answer);
                    takes.insert(first, Taken::new(work, first, low, answer));
                }
            }
        }
        takes.into_values().for_each(submit);
        Ok(())
    }

    /// Returns the device's results for nodes found by the last search: those whose keys have
    /// indices in `keys`. Each result has room for `room` long numbers.
    fn take(
        &self,
        asked: &mut Asked,
        work: &Work<'_>,
        keys: Range<usize>,
        room: usize,
    ) -> Result<Vec<Vec<u64>>, DeviceError> {
        let Asked { found, answers, .. } = asked;
        let (count, words) = (keys.len(), HEAD + 2 * room);
        answers.clear()?;
        self.kernels.take(work, found.view(2 * keys.start..2 * keys.end), room, answers)?;
        let answers = answers.download_part(0..count * words)?;
        Ok(answers.chunks_exact(words).map(<[u64]>::to_vec).collect())
    }

    /// Returns the index of the first node of the tally to which the result `answer` belongs.
    /// Returns `None` if the challenged node was not walked. `low` has the low bits of the
    /// challenged node.
    fn first(
        &self,
        work: &Work<'_>,
        answer: &[u64],
        low: u128,
    ) -> Result<Option<usize>, CollatzError> {
        let (place, count) = (answer[0] as u32, (answer[0] >> 32) as u32);
        let place = self.place(place, count, low, self.judge.tree.level())?;
        let place = place.filter(|place| work.range.contains(place));
        Ok(place.map(|place| place - (place - work.range.start) % TAKE))
    }
}

fn sorted(lows: impl Iterator<Item = u128>) -> Vec<u128> {
    let lows: BTreeSet<u128> = lows.collect();
    lows.into_iter().collect()
}

impl Taken {
    /// Parses `answer`, the device's result for the nodes of a tally. `first` is the index of the
    /// first of these nodes, and `low` has the low bits of the challenged node.
    fn new(work: &Work<'_>, first: usize, low: u128, answer: &[u64]) -> Self {
        let (head, ends) = answer.split_at(HEAD);
        let halves = |words: &[u64]| -> Vec<u32> {
            words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]).collect()
        };
        let [tally, nodes] = [&head[2..4], &head[4..]].map(halves);
        let of_node = |words: &[u32]| NodeWords::try_from(words).unwrap_or_default();
        let have = TAKE.min(work.range.end - first);
        let long = usize::try_from(head[1]).unwrap_or(ends.len()).min(ends.len() / 2);
        Self {
            lows: HashSet::from([low]),
            first,
            nodes: nodes.chunks_exact(8).take(have).map(of_node).collect(),
            tally: <[u32; 4]>::try_from(tally).unwrap_or_default(),
            mark: work.memory.mark,
            long: head[1],
            ends: ends[..2 * long].to_vec(),
            given_up: work.given_up.to_vec(),
        }
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

    /// Returns the error that a result of the device is wrong. `what` names the result, `found` is
    /// its value on the device, and `expected` is the correct value.
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

    /// Checks the device's results for the nodes of a tally. If all results are right, returns the
    /// contributions of the challenged nodes among these nodes. Otherwise returns an error.
    fn judge(&self, taken: &Taken) -> Verdict {
        let walks = self.walks(taken)?;
        let wanted = walks.into_iter().filter(|(low, _)| taken.lows.contains(low));
        Ok(wanted.map(|(low, walks)| Answer { low, share: walks.share() }).collect())
    }

    /// Recomputes the nodes of a tally, and returns their low bits and walks. Returns an error if
    /// the device reported other nodes or other results for them.
    fn walks(&self, taken: &Taken) -> Result<Vec<(u128, NodeWalks)>, CollatzError> {
        let Taken { first, nodes, tally, .. } = taken;
        let mut true_nodes: Vec<Node> = vec![];
        for (place, words) in (*first..).zip(nodes) {
            let low = low(words);
            let node = self.slow.node(low).filter(|node| node.words() == *words);
            let is_new = true_nodes.iter().all(|other| other.low != low);
            let node = node.filter(|_| is_new);
            true_nodes
                .push(node.ok_or_else(|| self.refuted(format!("node {place}"), low, "another"))?);
        }
        let walks = self.slow.walks_of_all(&true_nodes);
        let lows = true_nodes.iter().map(|node| node.low);
        let all: Vec<(u128, NodeWalks)> = lows.zip(walks).collect();
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

    /// Checks that the device has listed each long number of `nodes` exactly once, with the right
    /// number of odd steps. Returns an error if it has not.
    fn compare_ends(&self, taken: &Taken, nodes: &[(u128, NodeWalks)]) -> Result<(), CollatzError> {
        let long = nodes.iter().map(|(_, walks)| walks.long.len()).sum::<usize>() as u64;
        if taken.long != long {
            let what = format!("the count of long numbers of nodes with the node {}", nodes[0].0);
            return Err(self.refuted(what, taken.long, long));
        }
        let entries: HashMap<u64, u64> =
            taken.ends.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
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

/// Returns the number of tallies for `nodes` nodes.
pub(super) fn takes(nodes: usize) -> usize {
    nodes.div_ceil(TAKE)
}

/// Allocates memory for the tallies of `nodes` nodes.
pub(super) fn tallies(device: &Device, nodes: usize) -> Result<Buffer<[u32; 4]>, DeviceError> {
    device.alloc(takes(nodes))
}
