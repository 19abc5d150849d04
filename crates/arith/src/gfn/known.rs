//! The fields of the seven known primes of [`PRIMES`].

use super::{Gfn, PRIMES};

macro_rules! known {
    ($($name:ident, $digits:literal, $at:literal, $prime:literal;)*) => {
        $(
            #[doc = concat!("Z/pZ, p = ", $prime, ": elements of ", $digits, " words.")]
            pub type $name = Gfn<$digits>;

            impl Gfn<$digits> {
                #[doc = concat!("Z/pZ for the known prime p = ", $prime, " of [`PRIMES`].")]
                #[must_use]
                pub fn known() -> Self {
                    Self::ring(PRIMES[$at])
                }
            }
        )*

        #[cfg(test)]
        #[test]
        fn known_fields_are_those_of_the_primes() {
            $(
                assert_eq!(Gfn::<$digits>::new(PRIMES[$at]), Ok($name::known()));
                assert_eq!(PRIMES[$at].to_string(), $prime);
            )*
        }
    };
}

known! {
    Gfn2, 2, 0, "(2^63+2^53)^2+1";
    Gfn4, 4, 1, "(2^64-2^50)^4+1";
    Gfn8, 8, 2, "(2^63+2^34)^8+1";
    Gfn16, 16, 3, "(2^62+2^36)^16+1";
    Gfn32, 32, 4, "(2^62+2^56)^32+1";
    Gfn64, 64, 5, "(2^63-2^40)^64+1";
    Gfn128, 128, 6, "(2^64-2^28)^128+1";
}
