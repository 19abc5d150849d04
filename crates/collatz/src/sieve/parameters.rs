//! The text form of the parameters that determine the checksum of the sieve:
//! `last=10,look=auto32,step=12,rules=descent+preimages`.

use super::{LAST, Looking, Rules, Shape, Step};

/// Returns the parameters of a shape as text, for an engine whose look-ahead vectors cover at most
/// `most` steps.
pub(super) fn text(shape: Shape, most: Looking) -> String {
    let look = match shape.look {
        Some(look) => look.bits().to_string(),
        None => format!("auto{}", most.bits()),
    };
    format!("last={LAST},look={look},step={},rules={}", shape.step.bits(), shape.rules)
}

/// Parses the parameters of the sieve as [`text`] formats them. Returns the shape, and the largest
/// number of steps that look-ahead vectors cover. Returns `None` for any other text.
pub(crate) fn parse(parameters: &str) -> Option<(Shape, Looking)> {
    let values = parameters.split(',').map(|part| part.split_once('=').map(|(_, value)| value));
    let [_, look, step, rules] = values.collect::<Option<Vec<_>>>()?.try_into().ok()?;
    let (is_auto, look) = look.strip_prefix("auto").map_or((false, look), |look| (true, look));
    let look = Looking::new(look.parse().ok()?)?;
    let has = |rule| rules.split('+').any(|part| part == rule);
    let rules = Rules { preimages: has("preimages"), runs: has("runs"), mod_9: has("mod9") };
    let step = Step::new(step.parse().ok()?)?;
    let shape = Shape { rules, look: (!is_auto).then_some(look), step };
    (text(shape, look) == parameters).then_some((shape, look))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_as_what_it_was_made_of() {
        for look in [None, Looking::new(10), Looking::new(32)] {
            for (preimages, runs, mod_9) in
                [(true, true, true), (false, true, false), (false, false, true)]
            {
                let rules = Rules { preimages, runs, mod_9 };
                let shape = Shape { rules, look, step: Step::new(9).unwrap() };
                let most = look.or(Looking::new(24)).unwrap();
                assert_eq!(parse(&text(shape, most)), Some((shape, most)));
            }
        }
        let good = text(Shape::default(), Looking::LEAST);
        for bad in [
            String::new(),
            good.replace("last=10", "last=11"),
            good.replace("look=auto10", "look=auto33"),
            good.replace("look=auto10", "look=010"),
            good.replace("step=12", "step=14"),
            good.replace("descent+", "descents+"),
            format!("{good}+more"),
            format!("{good},more=1"),
        ] {
            assert_eq!(parse(&bad), None, "{bad}");
        }
    }
}
