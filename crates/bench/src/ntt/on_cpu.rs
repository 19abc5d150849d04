//! Measures transforms on the CPU, with all its threads.

use super::elements::Elements;
use super::field::Measured;
use super::row::{Row, Transforms};
use super::{Case, Place};
use crate::vectors::right_on_cpu;
use crate::{BenchError, timing};

#[derive(Debug)]
pub(super) struct OnCpu<F> {
    pub(super) field: F,
    pub(super) runs: Option<usize>,
}

impl<F: Measured> Place for OnCpu<F> {
    fn row(&mut self, case: Case) -> Result<Row, BenchError> {
        let elements = Elements::new(self.field, case);
        let Some(mut x) = elements.words() else {
            return Ok(Row::new(case, Err("the host has no room for the vectors".into())));
        };
        let plan = self.field.plan_on_cpu(case)?;
        (plan.forward)(&mut x)?;
        let looked_at = elements.looked_at();
        for &at in &looked_at {
            let Some((vector, k)) = (plan.frequency)(at) else { continue };
            let is_right = x[at] == elements.output(vector, k);
            right_on_cpu(is_right, || format!("output {k} of vector {vector} is wrong"))?;
        }
        (plan.inverse)(&mut x)?;
        let is_right = x.iter().enumerate().all(|(at, &word)| word == elements.word(at));
        right_on_cpu(is_right, || "the inverse transform is wrong".into())?;
        let forward = timing::on_cpu(self.runs, || (plan.forward)(&mut x))?;
        let inverse = timing::on_cpu(self.runs, || (plan.inverse)(&mut x))?;
        Ok(Row::new(case, Ok(Transforms::new(case, forward, inverse, looked_at.len()))))
    }
}
