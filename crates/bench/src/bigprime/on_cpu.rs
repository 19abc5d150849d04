//! Measures transforms over big prime fields on the CPU, with all its threads.

use warpint_arith::gfn::{Form, Gfn};
use warpint_arith::with_field;
use warpint_transform::cpu::Transform;

use super::elements::Elements;
use super::row::{Big, Checked, Row};
use super::{Place, SEEDS, Wanted};
use crate::vectors::right_on_cpu;
use crate::{BenchError, timing};

#[derive(Debug)]
pub(super) struct OnCpu {
    pub(super) runs: Option<usize>,
}

impl OnCpu {
    fn big<const K: usize>(
        &self,
        field: Gfn<K>,
        log2: u32,
    ) -> Result<Option<(Big, Checked)>, BenchError> {
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
            right_on_cpu(x[i] == a.output(plan.field(), i), || format!("output {i} is wrong"))?;
        }
        plan.inverse(&mut x)?;
        right_on_cpu(x == first, || "the inverse transform is wrong".into())?;
        let transform = timing::on_cpu(self.runs, || plan.forward(&mut x))?;
        let inverse = timing::on_cpu(self.runs, || plan.inverse(&mut x))?;
        let (mut x, mut y) = (first, second);
        plan.cyclic(&mut x, &mut y)?;
        if let Some(&i) = looked_at.first() {
            let expected = a.convolved(&b, plan.field(), i);
            right_on_cpu(x[i] == expected, || format!("of the convolution, element {i} is wrong"))?;
        }
        let convolution = timing::on_cpu(self.runs, || plan.cyclic(&mut x, &mut y))?;
        let checked = Checked { inverse: true, outputs: looked_at.len(), equal: false };
        Ok(Some((Big { transform, inverse, convolution, passes: None }, checked)))
    }
}

impl Place for OnCpu {
    fn row(&mut self, form: Form, log2: u32, _wanted: Wanted) -> Result<Row, BenchError> {
        let row = Row::new(form, log2);
        Ok(match with_field!(form, |field| self.big(field, log2))?? {
            Some((big, checked)) => Row { big: Some(big), checked, ..row },
            None => {
                Row { missing: vec!["big: the host has no room for the vectors".into()], ..row }
            }
        })
    }
}
