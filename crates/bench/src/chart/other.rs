//! Times of other programs, read from a file of the user.

/// A time that another program takes, to be drawn beside measured times.
#[derive(Debug, Clone, PartialEq)]
pub struct Other {
    /// The name of the line: the program, and what it computes with.
    pub name: String,
    /// The size.
    pub size: f64,
    /// The time, in the unit of the chart.
    pub time: f64,
}

/// A line that is not an [`Other`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: '{text}' is not P MICROSECONDS NAME with positive numbers")]
pub struct NoOther {
    line: usize,
    text: String,
}

impl Other {
    /// Parses lines of a size, a time and a name. Empty lines and lines that begin with # are left out.
    ///
    /// # Errors
    /// Returns the first line that has another form.
    pub fn all(text: &str) -> Result<Vec<Self>, NoOther> {
        let lines = text.lines().map(str::trim).enumerate();
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        lines
            .map(|(at, line)| {
                Self::parse(line).ok_or_else(|| NoOther { line: at + 1, text: line.to_owned() })
            })
            .collect()
    }

    fn parse(line: &str) -> Option<Self> {
        let positive = |text: &str| text.parse().ok().filter(|x: &f64| x.is_finite() && *x > 0.0);
        let (size, rest) = line.split_once(char::is_whitespace)?;
        let (time, name) = rest.trim_start().split_once(char::is_whitespace)?;
        let name = name.trim_start().to_owned();
        Some(Self { name, size: positive(size)?, time: positive(time)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_other_programs_are_read() {
        let text = "# a comment\n\n82589933 87.1 PRPLL, FP64\n  6972593\t16.9  PRPLL, FP64 \n";
        let others = Other::all(text).unwrap();
        let found: Vec<_> = others.iter().map(|o| (o.name.as_str(), o.size, o.time)).collect();
        assert_eq!(
            found,
            [("PRPLL, FP64", 82_589_933.0, 87.1), ("PRPLL, FP64", 6_972_593.0, 16.9)]
        );
        for wrong in ["82589933 87.1", "82589933", "x 1 a", "1 -2 a", "1 inf a", "0 1 a"] {
            let error = Other::all(&format!("# one\n{wrong}")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("line 2: '{wrong}' is not")), "{error}");
        }
    }
}
