use super::*;

fn widths(bits: &[u32]) -> Vec<Width> {
    bits.iter().map(|&bits| Width::new(bits).unwrap()).collect()
}

#[test]
fn entries_of_the_list_are_sound() {
    for (i, &operation) in Operation::ALL.iter().enumerate() {
        let name = operation.name();
        assert!(!name.is_empty() && name.bytes().all(|c| c.is_ascii_lowercase()), "{name}");
        assert!(Operation::ALL[..i].iter().all(|other| other.name() != name), "{name} twice");
        let operands = operation.operands();
        assert!((1..=3).contains(&operands.len()), "{name}");
        assert_eq!(operands[0], Role::Number, "{name}");
        if let Some(operand) = operation.refuses_zeros_of() {
            assert!(operation.no_result().is_some(), "{name}");
            assert!(matches!(operands[operand], Role::Divisor | Role::Modulus), "{name}");
        }
    }
}

#[test]
fn results_hold_what_operands_of_all_ones_come_to() {
    use warpint_natural::limbs;

    let fits = |number: &[u64], width: Width| {
        let number = limbs::trimmed(number);
        let zeros = number.last().map_or(0, |top| top.leading_zeros() as usize);
        64 * number.len() - zeros <= width.bits() as usize
    };
    for bits in [[32, 32, 32], [96, 32, 64], [64, 256, 32], [1024, 512, 2048]] {
        let [a, b, m] = bits.map(|bits| Width::new(bits).unwrap());
        let ones = |width: Width| {
            let mut number = vec![u64::MAX; width.limbs() / 2];
            number.extend((width.limbs() % 2 == 1).then_some(u64::from(u32::MAX)));
            number
        };
        for &operation in Operation::ALL {
            let b = if operation.operands().len() > 1 { b } else { a };
            let (width, second) = operation.widths([a, b, m]).unwrap();
            let Some((result, rest)) =
                operation.expected([ones(a), ones(b), ones(m)], width.limbs())
            else {
                continue;
            };
            assert!(fits(&result, width), "{operation:?} {bits:?}");
            assert!(fits(&rest, second.unwrap_or(width)), "{operation:?} {bits:?}");
            assert!(second.is_some() || rest.is_empty(), "{operation:?} {bits:?}");
        }
    }
}

#[test]
fn costs_are_products_of_the_widest_operand() {
    let ns = |operation: Operation, bits: &[u32]| operation.nanoseconds(&widths(bits));
    assert_eq!(ns(Operation::Multiply, &[64, 64]), 2.0);
    assert_eq!(ns(Operation::Divide, &[4096, 64]), 4097.0);
    assert_eq!(ns(Operation::Divide, &[64, 4096]), 4097.0);
    assert_eq!(ns(Operation::Square, &[4096]), 4097.0);
    assert_eq!(ns(Operation::Gcd, &[4096, 64]), 20.0 * 4097.0);
    assert_eq!(ns(Operation::Inverse, &[32, 64]), 40.0);
    // The exponent's bits count; where it is missing, those of the first number.
    assert_eq!(ns(Operation::Power, &[2048, 32, 2048]), 32.0 * 1025.0);
    assert_eq!(ns(Operation::Power, &[2048]), 2048.0 * 1025.0);
    for &operation in Operation::ALL {
        assert!(ns(operation, &[64, 64, 64]) < ns(operation, &[64, 64, 128]), "{operation:?}");
        assert!(ns(operation, &[]) > 0.0);
    }
}
