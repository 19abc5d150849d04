//! What is known of the digits of registers.

use super::Element;

/// The sum over the digits of each register by the present root, as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct Known(Vec<Option<Element>>);

impl Known {
    pub(crate) fn get(&self, register: usize) -> Option<Element> {
        self.0.get(register).copied().flatten()
    }

    pub(crate) fn set(&mut self, register: usize, sum: Option<Element>) {
        if self.0.len() <= register {
            self.0.resize(register + 1, None);
        }
        self.0[register] = sum;
    }

    /// Forgets all sums.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
