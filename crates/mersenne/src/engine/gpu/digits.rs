//! Registers of digits to any base.

use warpint_device::Arg;

use super::Layout;
use crate::layout::StoredDigits;
use crate::{Number, Residue, Shift, Sign};

impl Layout for StoredDigits {
    const COMBINE: &'static str = "combine_digits";

    fn number(&self) -> Number {
        self.layout.number()
    }

    fn len(&self) -> usize {
        self.layout.len()
    }

    fn digits_of(&self, x: &Residue, _: Shift) -> Vec<i32> {
        assert_eq!(x.number(), self.layout.number(), "a residue of another number");
        let mut digits = vec![0; self.layout.len()];
        self.store(x.limbs(), &mut digits);
        digits
    }

    fn residue_of(&self, digits: &[i32], _: Shift) -> Residue {
        Residue::from_canonical(self.layout.number(), self.load(digits))
    }

    fn combine_args(&self) -> Vec<Arg> {
        let (layout, number) = (self.layout, self.layout.number());
        let [short, long] = layout.bases();
        vec![
            Arg::U64(layout.rate()),
            Arg::U32(number.base()),
            Arg::U32(short),
            Arg::U32(long),
            Arg::U64(number.multiplier()),
            Arg::U32(layout.top()),
            Arg::I32(if number.sign() == Sign::Minus { 1 } else { -1 }),
        ]
    }

    fn is_intact(&self) -> bool {
        StoredDigits::is_intact(self)
    }
}
