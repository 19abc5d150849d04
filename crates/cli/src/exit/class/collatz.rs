//! Exit codes of errors of Collatz runs.

use super::*;

impl Classed for FolderError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::NotADirectory { .. } | Self::NoLock { .. } | Self::Later { .. } => Some(BadInput),
            Self::Directory { .. } | Self::Read { .. } | Self::Write { .. } => None,
        }
    }
}

impl Classed for CollatzError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::Empty { .. }
            | Self::Class { .. }
            | Self::TooLarge { .. }
            | Self::LowBits { .. }
            | Self::Parameter { .. }
            | Self::DelayOfZero
            | Self::DelayTooLarge { .. } => Some(BadInput),
            Self::NoEnd { .. } => Some(Negative),
            Self::Randomness { .. } | Self::Refuted { .. } => Some(Failed),
            Self::Device(e) => e.class(),
        }
    }
}

impl Classed for OpenError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::NoMethod { .. } => Some(BadInput),
            Self::On { .. } => None,
            Self::Collatz(e) => e.class(),
        }
    }
}
