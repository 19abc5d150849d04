//! The result of a candidate as a line of text in the form of LLR's `lresults.txt`.

use warpint_mersenne::{Factor, Number, Sign, TestKind};

use super::{Report, Status, TestReport};

impl Report {
    /// Returns the result of a candidate as a line in the form of LLR, where `name` names the number:
    ///
    /// ```text
    /// 3*2^2816+1 is prime! (849 decimal digits)  Time : 0.012 sec.
    /// 27*10^100-1 is base 3-Fermat PRP! (102 decimal digits)  Time : 0.030 sec.
    /// 3*2^2817+1 is not prime.  Proth RES64: 4216FE6FE3EE7676  Time : 0.012 sec.
    /// 3*2^2817-1 is not prime.  LLR Res64: 4216FE6FE3EE7676  Time : 0.012 sec.
    /// 7*10^99+1 is not prime.  RES64: 4216FE6FE3EE7676  Time : 0.012 sec.
    /// 81*10^50+1 has a small factor : 41 !!
    /// ```
    ///
    /// Returns `None` for a report without a verdict.
    #[must_use]
    pub(crate) fn llr_line(&self, name: &str, number: Number) -> Option<String> {
        match self {
            Self::Test(report) => report.llr_line(name, number),
            Self::Factor(report) => Some(match report.found() {
                Factor::Algebraic(factor) => format!("{name} is not prime.  Factor : {factor}"),
                Factor::Small(factor) => format!("{name} has a small factor : {factor} !!"),
            }),
            Self::Stopped(_) => None,
        }
    }
}

impl TestReport {
    fn llr_line(&self, name: &str, number: Number) -> Option<String> {
        let digits = || format!("({} decimal digits)", decimal_digits(number));
        let (worktype, res64) = (&self.worktype, &self.res64);
        let kind = worktype.split('-').next().unwrap_or_default();
        let verdict = match (self.status, kind) {
            (Status::Prime, _) => format!("{name} is prime! {}", digits()),
            (Status::Probable, _) => {
                // Morrison's test begins with Fermat's.
                let fermat = (kind == "Morrison").then(|| TestKind::fermat(number).work_type());
                let by = fermat.as_deref().unwrap_or(worktype);
                let base = by.split_once('-').map_or("", |(_, base)| base);
                format!("{name} is base {base}-Fermat PRP! {}", digits())
            }
            (Status::Composite, "Proth") => {
                format!("{name} is not prime.  Proth RES64: {}", one_more(res64))
            }
            (Status::Composite, "LLR" | "LL") => {
                format!("{name} is not prime.  LLR Res64: {res64}")
            }
            (Status::Composite, _) => format!("{name} is not prime.  RES64: {res64}"),
            (Status::Certified | Status::Interim, _) => return None,
        };
        // Without an engine, no time was measured.
        let time = self.engine.as_ref().map(|_| format!("  Time : {:.3} sec.", self.seconds));
        Some(verdict + &time.unwrap_or_default())
    }
}

/// Returns the lowest 64 bits of r + 1 in 16 hexadecimal digits, for those of r, which is not N − 1. LLR and PRST print
/// them for Proth's test: r + 1 is 0 modulo a prime.
fn one_more(res64: &str) -> String {
    u64::from_str_radix(res64, 16)
        .map_or_else(|_| res64.into(), |r| format!("{:016X}", r.wrapping_add(1)))
}

/// Returns the number of decimal digits of N. Cost: O(1), or that of two values of this length if N is so
/// close to a power of ten that logarithms in double precision do not decide.
fn decimal_digits(number: Number) -> u64 {
    if let Some(value) = number.small() {
        return u64::from(value.checked_ilog10().unwrap_or(0)) + 1;
    }
    // n·log10(b) is below 2^30, and each of the roundings has a relative error below 2^−52: the error of
    // the sum is below 10^−6. The term ±1 changes the logarithm by less than 2^−63.
    let log = (number.multiplier() as f64).log10()
        + f64::from(number.exponent()) * f64::from(number.base()).log10();
    let near = log.round();
    match Number::new(1, 10, near as u32, Sign::Minus) {
        Ok(below_power) if (log - near).abs() < 1e-6 => {
            let (value, below) = (number.value(), below_power.value());
            let order = value.len().cmp(&below.len());
            let order = order.then_with(|| value.iter().rev().cmp(below.iter().rev()));
            near as u64 + u64::from(order.is_gt())
        }
        _ => log as u64 + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decimal_digits_are_counted() {
        for (number, digits) in [
            ("3*2^1-1", 1),
            ("9*2^1+1", 2),
            ("2^64-1", 20),
            ("10^19+1", 20),
            ("10^19-1", 19),
            ("10^400+1", 401),
            ("10^400-1", 400),
            ("9*10^400-1", 401),
            ("3*2^20909+1", 6_295),
            // 10^30102 < 2^99998 < 10^30103; from Python.
            ("2^99998+1", 30_103),
            ("M136279841", 41_024_320),
        ] {
            assert_eq!(decimal_digits(number.parse().unwrap()), digits, "{number}");
        }
    }
}
