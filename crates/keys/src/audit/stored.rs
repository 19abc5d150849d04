//! Audits against the moduli of a store.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use warpint_natural::euclid::Euclid;
use warpint_progress::Watch;

use super::weak::{MOST_PARTNERS, Number, Weak, findings, relate};
use super::{Audit, Finding};
use crate::batch_gcd::{Batch, DeviceTrees, Times, are_whole};
use crate::checks::{small_factor, without_small_factors};
use crate::store::{Content, Pairs, Part, Spot, Store};
use crate::{KeyList, KeysError};

/// The groups into which long lists are cut at least, and the number of limbs below which no group is
/// cut for this reason. A stopped audit loses the work on one group.
const GROUPS: usize = 8;
const LEAST_LIMBS: usize = 1 << 22;

/// A store, and what it knows of the keys of an audit.
pub(super) struct Audited {
    store: Store,
    /// Whether the store has each distinct modulus of the list.
    known: Vec<bool>,
    /// How many of them the store had.
    before: usize,
    /// Further places of known moduli, by their index.
    repeats: BTreeMap<usize, Vec<Spot>>,
    /// Pairs of moduli that share a prime: pairs of the store with a modulus of the list, and pairs that
    /// this audit finds.
    related: Related,
    /// The places of moduli that are not in the list.
    elsewhere: BTreeMap<Number, Vec<Spot>>,
}

/// Pairs of moduli, which may be many for each modulus.
#[derive(Default)]
struct Related {
    /// The index of each modulus.
    moduli: BTreeMap<Number, u32>,
    /// The indices of two moduli each, in any order.
    pairs: Vec<[u32; 2]>,
}

impl Related {
    /// Adds the pairs for whose moduli `is_wanted` returns true.
    fn add(&mut self, Pairs { moduli, pairs }: Pairs, is_wanted: impl Fn([usize; 2]) -> bool) {
        let mut indices: Vec<Option<u32>> = vec![None; moduli.len()];
        for pair in pairs {
            let pair = pair.map(|i| i as usize);
            if is_wanted(pair) {
                self.pairs.push(pair.map(|i| {
                    *indices[i].get_or_insert_with(|| {
                        let next = self.moduli.len() as u32;
                        *self.moduli.entry(Number(moduli[i].clone())).or_insert(next)
                    })
                }));
            }
        }
    }
}

/// Returns the place of key i.
fn spot(list: &KeyList, i: usize) -> Spot {
    let place = list.place(i);
    Spot { file: place.file.to_owned(), position: place.position }
}

/// Returns a number without its small prime factors.
fn without_small(n: &[u64]) -> Vec<u64> {
    if small_factor(n).is_some() { without_small_factors(n) } else { n.to_vec() }
}

impl Audited {
    /// Reads what the store has of the moduli of an audit, and appends their stored keys to its list.
    pub(super) fn new(
        audit: &mut Audit,
        store: Store,
        watch: &dyn Watch,
    ) -> Result<Self, KeysError> {
        let known = vec![false; audit.distinct];
        let (related, elsewhere) = (Related::default(), BTreeMap::new());
        let repeats = BTreeMap::new();
        let mut this = Self { store, known, before: 0, repeats, related, elsewhere };
        for part in this.store.parts() {
            let shared = part.shared()?;
            let listed: Vec<bool> =
                shared.moduli.iter().map(|modulus| audit.find(modulus).is_some()).collect();
            this.related.add(shared, |[a, b]| listed[a] || listed[b]);
        }
        for modulus in this.related.moduli.keys() {
            if audit.find(&modulus.0).is_none() {
                this.elsewhere.insert(modulus.clone(), vec![]);
            }
        }
        // The stored places of each modulus of the list.
        let mut stored: BTreeMap<usize, Vec<Spot>> = BTreeMap::new();
        let total = this.store.parts().len() as u64;
        for (i, part) in this.store.parts().iter().enumerate() {
            watch.step(i as u64, total, &"store");
            if watch.is_stopped() {
                return Err(KeysError::Stopped);
            }
            look_up(audit, part, &mut this.known, &mut stored, &mut this.elsewhere)?;
        }
        for (&i, spots) in &stored {
            if watch.is_stopped() {
                return Err(KeysError::Stopped);
            }
            let given: Vec<Spot> = audit.keys[i].iter().map(|&k| spot(&audit.list, k)).collect();
            let modulus = audit.modulus(i).to_vec();
            // A modulus may have thousands of places, and a place may be in several files.
            let old: HashSet<&Spot> = spots.iter().collect();
            let more: Vec<Spot> = given.iter().filter(|s| !old.contains(s)).cloned().collect();
            // The places of new moduli go into the file of their group.
            if this.known[i] && !more.is_empty() {
                this.repeats.insert(i, more);
            }
            let mut seen: HashSet<&Spot> = given.iter().collect();
            for spot in spots {
                if seen.insert(spot) {
                    let key = audit.list.push_stored(&modulus, spot);
                    audit.keys[i].push(key);
                }
            }
        }
        this.before = this.known.iter().filter(|known| **known).count();
        Ok(this)
    }

    /// Returns the number of moduli of the list that the store had before the audit.
    pub(super) fn known(&self) -> usize {
        self.before
    }

    /// Audits the new moduli, group by group, and adds each group to the store. Returns the findings
    /// of shared primes that concern a modulus of the list.
    pub(super) fn find(
        &mut self,
        audit: &mut Audit,
        trees: Option<&DeviceTrees>,
        planned: &mut dyn FnMut(&str),
        watch: &dyn Watch,
    ) -> Result<Vec<Finding>, KeysError> {
        let mut times = audit.times;
        let added = self.add_new(audit, trees, planned, watch, &mut times);
        audit.times = times;
        added?;
        self.find_places(audit)?;
        // All moduli of pairs, with the factors that follow from the pairs. A stored modulus has its
        // pairs with moduli of the list.
        let Related { moduli, pairs } = &self.related;
        let mut index = vec![0; moduli.len()];
        let mut weak = Vec::with_capacity(moduli.len());
        for (modulus, &i) in moduli {
            index[i as usize] = weak.len();
            let number = without_small(&modulus.0);
            weak.push(Weak::new(&modulus.0, number.clone(), &number));
        }
        for pair in pairs {
            let [a, b] = pair.map(|i| index[i as usize]);
            weak[a].partners.insert(b);
            weak[b].partners.insert(a);
        }
        for w in 0..weak.len() {
            if watch.is_stopped() {
                return Err(KeysError::Stopped);
            }
            if weak[w].factor.is_none() {
                weak[w].factor = factor(&weak, w);
            }
        }
        // The stored moduli among them get their keys.
        for w in &weak {
            if audit.find(&w.modulus).is_none()
                && let Some(spots) = self.elsewhere.get(&Number(w.modulus.clone()))
            {
                let keys = spots.iter().map(|spot| audit.list.push_stored(&w.modulus, spot));
                let keys: Vec<usize> = keys.collect();
                if !keys.is_empty() {
                    audit.keys.push(keys);
                }
            }
        }
        Ok(findings(audit, &weak))
    }

    /// Reads the places of the moduli that are not in the list, of which some became known by this
    /// audit. A place may be in any file.
    fn find_places(&mut self, audit: &Audit) -> Result<(), KeysError> {
        self.elsewhere.values_mut().for_each(Vec::clear);
        if self.elsewhere.is_empty() {
            return Ok(());
        }
        let (mut known, mut stored) = (self.known.clone(), BTreeMap::new());
        for part in self.store.parts() {
            look_up(audit, part, &mut known, &mut stored, &mut self.elsewhere)?;
        }
        for spots in self.elsewhere.values_mut() {
            let mut seen = HashSet::new();
            spots.retain(|spot| seen.insert(spot.clone()));
        }
        Ok(())
    }

    /// Audits the new moduli and adds them, and the further places of known ones, to the store.
    fn add_new(
        &mut self,
        audit: &Audit,
        trees: Option<&DeviceTrees>,
        planned: &mut dyn FnMut(&str),
        watch: &dyn Watch,
        times: &mut Times,
    ) -> Result<(), KeysError> {
        let Self { store, known, repeats, related, elsewhere, .. } = self;
        let fresh: Vec<usize> = (0..audit.distinct).filter(|&i| !known[i]).collect();
        // Cofactors of small primes may be 1.
        let (mut trivial, indices): (Vec<usize>, Vec<usize>) =
            fresh.into_iter().partition(|&i| *audit.number(i) == [1]);
        let numbers: Vec<&[u64]> = indices.iter().map(|&i| audit.number(i)).collect();
        let spots = |i: usize| audit.keys[i].iter().map(|&k| spot(&audit.list, k)).collect();
        let limbs: usize = numbers.iter().map(|n| n.len()).sum();
        let longest = store.parts().iter().map(Part::product_bytes).max().unwrap_or(0) / 8;
        let super::Settings { memory, threads, .. } = audit.settings;
        let most = limbs.div_ceil(GROUPS).max(LEAST_LIMBS);
        let mut batch = Batch::in_turn(&numbers, most, longest as usize, memory, threads)?;
        if let Some(trees) = trees {
            batch = batch.on_device(trees)?;
        }
        planned(&batch.to_string());
        for g in 0..batch.groups() {
            let range = batch.group(g);
            let outcome = if range.is_empty() {
                None
            } else {
                let mut products = store.parts().iter().map(Part::product);
                Some(batch.run_group(g, &mut products, watch, times)?)
            };
            let mut new: Vec<usize> = indices[range.clone()].to_vec();
            new.append(&mut trivial);
            new.sort_unstable();
            if new.is_empty() && repeats.is_empty() {
                continue;
            }
            let mut shared = Pairs::default();
            let mut product = vec![1];
            if let Some(outcome) = outcome {
                product = outcome.product;
                let mut weak: Vec<Weak> = vec![];
                for found in outcome.common {
                    let i = indices[found.index];
                    weak.push(Weak::new(audit.modulus(i), found.gcd, audit.number(i)));
                }
                let own = weak.len();
                for part in store.parts() {
                    for w in partners(part, &weak[..own], audit, watch)? {
                        elsewhere.entry(Number(w.modulus.clone())).or_default();
                        weak.push(w);
                    }
                }
                if let Some(trees) = trees {
                    let all: Vec<&[u64]> = weak.iter().map(|w| &w.number[..]).collect();
                    let is_whole = |&w: &usize| weak[w].factor.is_none();
                    let whole: Vec<usize> = (0..own).filter(is_whole).collect();
                    if !are_whole(&all, &whole, memory, threads, watch)? {
                        return Err(trees.unsound("wrong remainders"));
                    }
                }
                relate(&mut weak, &audit.settings, watch)?;
                // A device that has stopped leaves remainders 0.
                if let Some(trees) = trees
                    && weak.iter().any(|w| w.partners.is_empty())
                {
                    return Err(trees.unsound("wrong remainders"));
                }
                for (a, w) in weak.iter().enumerate() {
                    let with_new = w.partners.iter().filter(|&&b| a.min(b) < own);
                    let pair = |&b: &usize| [a.min(b) as u32, a.max(b) as u32];
                    shared.pairs.extend(with_new.take(MOST_PARTNERS).map(pair));
                }
                shared.pairs.sort_unstable();
                shared.pairs.dedup();
                shared.moduli = weak.into_iter().map(|w| w.modulus).collect();
            }
            let moduli = new.iter().map(|&i| (audit.modulus(i), spots(i))).collect();
            let more =
                repeats.iter().map(|(&i, spots)| (audit.modulus(i), spots.clone())).collect();
            let content = Content { moduli, product: &product, repeats: more, shared };
            store.add(&content)?;
            repeats.clear();
            new.iter().for_each(|&i| known[i] = true);
            related.add(content.shared, |_| true);
        }
        Ok(())
    }
}

/// Returns a proper factor of a number that it shares with a partner. If the number divides all its
/// partners, it may share one with a partner of a partner: the pair of two stored moduli is not read.
fn factor(weak: &[Weak], w: usize) -> Option<Vec<u64>> {
    let mut euclid = Euclid::default();
    let mut with = |other: usize| {
        let gcd = euclid.gcd(&weak[w].number, &weak[other].number);
        (gcd != [1] && gcd != weak[w].number).then(|| gcd.to_vec())
    };
    let partners = &weak[w].partners;
    partners.iter().find_map(|&partner| with(partner)).or_else(|| {
        let further: BTreeSet<usize> =
            partners.iter().flat_map(|&partner| &weak[partner].partners).copied().collect();
        further.into_iter().find_map(with)
    })
}

/// Marks the moduli of the audit that a file of the store has. Adds the places that the file has of
/// moduli of the audit, and of those elsewhere.
fn look_up(
    audit: &Audit,
    part: &Part,
    known: &mut [bool],
    stored: &mut BTreeMap<usize, Vec<Spot>>,
    elsewhere: &mut BTreeMap<Number, Vec<Spot>>,
) -> Result<(), KeysError> {
    let moduli = part.moduli()?;
    let mut here = vec![];
    for (at, modulus) in moduli.all().into_iter().enumerate() {
        let index = audit.find(modulus);
        if index.is_some() || elsewhere.contains_key(&Number(modulus.to_vec())) {
            here.push((at, index, modulus));
        }
    }
    let indices: Vec<usize> = here.iter().map(|&(at, ..)| at).collect();
    let places = if here.is_empty() { vec![] } else { part.places_of(&indices)? };
    for ((_, index, modulus), spots) in here.into_iter().zip(places) {
        match index {
            Some(i) => {
                known[i] = true;
                stored.entry(i).or_default().extend(spots);
            }
            None => elsewhere.entry(Number(modulus.to_vec())).or_default().extend(spots),
        }
    }
    for (modulus, spots) in part.repeats()? {
        if let Some(i) = audit.find(&modulus) {
            stored.entry(i).or_default().extend(spots);
        } else if let Some(some) = elsewhere.get_mut(&Number(modulus)) {
            some.extend(spots);
        }
    }
    Ok(())
}

/// Returns the moduli of a file of the store that share a prime with one of `weak`.
fn partners(
    part: &Part,
    weak: &[Weak],
    audit: &Audit,
    watch: &dyn Watch,
) -> Result<Vec<Weak>, KeysError> {
    if weak.is_empty() {
        return Ok(vec![]);
    }
    let super::Settings { memory, threads, .. } = audit.settings;
    let numbers: Vec<&[u64]> = weak.iter().map(|w| &w.number[..]).collect();
    let with_product = Batch::new(&numbers, memory, threads)?.with(&part.product()?, watch)?;
    if with_product.is_empty() {
        return Ok(vec![]);
    }
    let numbers: Vec<&[u64]> = with_product.iter().map(|common| numbers[common.index]).collect();
    let product = Batch::new(&numbers, memory, threads)?.product(watch)?;
    let moduli = part.moduli()?;
    let moduli = moduli.all();
    // The product has no small prime factors.
    let found = Batch::new(&moduli, memory, threads)?.with(&product, watch)?;
    let entry = |common: crate::batch_gcd::Common| {
        let modulus = moduli[common.index];
        Weak::new(modulus, common.gcd, &without_small(modulus))
    };
    Ok(found.into_iter().map(entry).collect())
}
