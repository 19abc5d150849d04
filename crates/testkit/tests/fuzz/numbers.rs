//! Malformed numbers on a command line or in a file: exponents, factors, devices.

use proptest::collection::vec;
use proptest::prelude::*;
use rug::Integer;
use warpint_mersenne::{DeviceChoice, Exponent, KnownFactors};

use crate::cases;
use crate::memory::{allowed, most_used};

/// Returns a strategy for decimal numbers, texts that resemble numbers, and arbitrary texts.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9]{0,12}",
        "[0-9]{0,1100}",
        "[-+ ]?[0-9]{1,20}[xeKM. ]?",
        "0{0,30}[0-9]{1,10}",
        any::<u64>().prop_map(|n| n.to_string()),
        ".{0,12}",
    ]
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn fuzz_exponent(text in number()) {
        let (found, most) = most_used(|| text.parse::<Exponent>());
        prop_assert!(most <= allowed(4, text.len()), "{most} bytes");
        match found {
            Ok(p) => {
                prop_assert!(p.get() < Exponent::LIMIT);
                prop_assert_eq!(text.trim_start_matches('0'), p.to_string());
            }
            Err(e) => prop_assert!(!e.to_string().contains('\n') || text.contains('\n')),
        }
    }

    #[test]
    fn fuzz_known_factors(texts in vec(number(), 0..4), p in prop::sample::select(vec![11u32, 29, 67, 1_277])) {
        let bytes: usize = texts.iter().map(String::len).sum();
        let (found, most) = most_used(|| KnownFactors::new(p, &texts));
        prop_assert!(most <= allowed(64, bytes), "{most} bytes for {bytes}");
        let m = (Integer::from(1) << p) - 1u32;
        let product = |texts: &[String]| -> Option<Integer> {
            texts.iter().map(|text| text.parse::<Integer>().ok()).product::<Option<Integer>>()
        };
        if let Ok(known) = found {
            // Accepted factors are true factors by GMP too.
            let d = product(known.texts()).unwrap();
            prop_assert!(m.is_divisible(&d) && d < m);
            prop_assert_eq!(known.texts().len(), texts.len());
        }
    }

    #[test]
    fn fuzz_true_factors(which in vec(0usize..3, 0..4)) {
        // The factors of M29.
        let all = ["233", "1103", "2089"];
        let texts: Vec<&str> = which.iter().map(|&i| all[i]).collect();
        let mut once = which.clone();
        once.sort_unstable();
        once.dedup();
        let sound = once.len() == which.len() && which.len() < 3;
        prop_assert_eq!(KnownFactors::new(29, &texts).is_ok(), sound);
    }

    #[test]
    fn fuzz_device(text in prop_oneof!["(auto|cpu|cuda|sim)?:?[-+ ]?[0-9]{0,12}", ".{0,12}"]) {
        if let Ok(choice) = text.parse::<DeviceChoice>() {
            prop_assert_eq!(choice.to_string().parse(), Ok(choice));
        }
    }
}
