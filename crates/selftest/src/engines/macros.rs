//! The list of the cases of engines, and macros that use the list: they generate the table of
//! cases, and a `#[test]` for each case.

/// Calls the macro `$then` of this crate with the arguments `$argument`, followed by the names of
/// all cases.
#[doc(hidden)]
#[macro_export]
macro_rules! for_every_case {
    ($then:ident $(, $argument:expr)*) => {
        $crate::$then! {
            ($($argument),*)
            squares
            lucas_lehmer_steps
            small_multipliers
            products
            sums
            aliased_registers
            copies
            round_trips
            carry_patterns
            forced_lengths
            refused_lengths
            thread_counts
            ll_residues
            prp_residues
            known_residues
            whole_tests
            other_numbers
            fermat_numbers
            numbers_together
        }
    };
}

/// Defines the table [`crate::cases::CASES`] from the names of all cases.
#[doc(hidden)]
#[macro_export]
macro_rules! case_table {
    (() $($case:ident)*) => {
        /// The names and functions of all cases, the cheap ones first.
        pub const CASES: &[Case] = &[$(Case { name: stringify!($case), run: $case }),*];
    };
}

/// Defines a `#[test]` for every case. The test runs the case for the given family.
#[doc(hidden)]
#[macro_export]
macro_rules! case_tests {
    (($family:expr) $($case:ident)*) => {
        $(
            #[test]
            fn $case() {
                if let Err(message) = $crate::run_case($family, stringify!($case)) {
                    panic!("{message}");
                }
            }
        )*
    };
}

/// Defines a module with one `#[test]` for every case of [`crate::cases`], for the given `&'static
/// dyn EngineFamily`.
///
/// `engine_suite!(word, &warpint_mersenne::engine::word::Word);`
#[macro_export]
macro_rules! engine_suite {
    ($module:ident, $family:expr) => {
        mod $module {
            #[allow(unused_imports)]
            use super::*;
            $crate::for_every_case!(case_tests, $family);
        }
    };
}
