//! A macro that generates tests from the cases that compare an engine with GMP.

/// Defines a module with one `#[test]` for every case of [`crate::cases`]. The arguments are the
/// name of the module, and the engine family as a `&'static dyn EngineFamily`. Example:
///
/// `gmp_engine_suite!(word, &warpint_mersenne::engine::word::Word);`
#[macro_export]
macro_rules! gmp_engine_suite {
    ($module:ident, $family:expr) => {
        $crate::gmp_engine_suite! {
            @tests $module $family;
            squares
            products
            carry_patterns
            forced_lengths
            lucas_lehmer_of_small_primes
            lucas_lehmer_starts
            prp_of_small_primes
            large_primes
        }
    };
    (@tests $module:ident $family:expr; $($case:ident)*) => {
        mod $module {
            use super::*;
            $(
                #[test]
                fn $case() {
                    if let Err(message) = $crate::cases::$case($family) {
                        panic!("{message}");
                    }
                }
            )*
        }
    };
}
