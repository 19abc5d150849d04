//! Transforms on the CPU, on all its threads.

use std::time::{Duration, Instant};

use anyhow::ensure;
use warpint::arith::gfn::{Form, Gfn};
use warpint::arith::with_field;
use warpint::transform::cpu::Transform;

use super::elements::Elements;
use super::row::{Big, Checked, Row, Times};
use super::{Place, SEEDS, Wanted};

pub(super) struct OnCpu {
    pub(super) runs: Option<usize>,
}

impl OnCpu {
    fn times(&self, mut work: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<Times> {
        const LONG: Duration = Duration::from_millis(100);
        let mut time = || -> anyhow::Result<Duration> {
            let begin = Instant::now();
            work()?;
            Ok(begin.elapsed())
        };
        let usual = if time()? >= LONG { 3 } else { 15 };
        let times = (0..self.runs.unwrap_or(usual)).map(|_| time());
        Ok(Times::new(times.collect::<Result<_, _>>()?))
    }

    fn big<const K: usize>(
        &self,
        field: Gfn<K>,
        log2: u32,
    ) -> anyhow::Result<Option<(Big, Checked)>> {
        let [a, b] = SEEDS.map(|seed| Elements::new(field.form(), log2, seed));
        let all = |of: &Elements| {
            let mut all: Vec<[u64; K]> = vec![];
            all.try_reserve_exact(1 << log2).ok()?;
            all.extend((0..1 << log2).map(|j| of.element(j)));
            Some(all)
        };
        let mut x: Vec<[u64; K]> = vec![];
        if x.try_reserve_exact(1 << log2).is_err() {
            return Ok(None);
        }
        let Some((first, second)) = all(&a).zip(all(&b)) else { return Ok(None) };
        x.extend_from_slice(&first);
        let looked_at = a.looked_at(&field);
        let plan = Transform::new(field, log2)?;
        plan.forward(&mut x)?;
        for &i in &looked_at {
            ensure!(x[i] == a.output(plan.field(), i), "output {i} is wrong");
        }
        plan.inverse(&mut x)?;
        ensure!(x == first, "the inverse transform is wrong");
        let transform = self.times(|| Ok(plan.forward(&mut x)?))?;
        let inverse = self.times(|| Ok(plan.inverse(&mut x)?))?;
        let (mut x, mut y) = (first, second);
        plan.cyclic(&mut x, &mut y)?;
        if let Some(&i) = looked_at.first() {
            let expected = a.convolved(&b, plan.field(), i);
            ensure!(x[i] == expected, "of the convolution, element {i} is wrong");
        }
        let convolution = self.times(|| Ok(plan.cyclic(&mut x, &mut y)?))?;
        let checked = Checked { inverse: true, outputs: looked_at.len(), equal: false };
        Ok(Some((Big { transform, inverse, convolution, passes: None }, checked)))
    }
}

impl Place for OnCpu {
    fn row(&mut self, form: Form, log2: u32, _wanted: Wanted) -> anyhow::Result<Row> {
        let row = Row::new(form, log2);
        Ok(match with_field!(form, |field| self.big(field, log2))?? {
            Some((big, checked)) => Row { big: Some(big), checked, ..row },
            None => {
                Row { missing: vec!["big: the host has no room for the vectors".into()], ..row }
            }
        })
    }
}
