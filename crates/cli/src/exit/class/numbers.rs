//! Exit codes of errors of batches, transforms and benchmarks.

use super::*;

impl Classed for BatchError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::Request(_) | Self::Operand { .. } | Self::Unreadable { .. } | Self::Output(_) => {
                Some(BadInput)
            }
            Self::Contradiction { .. } | Self::Differs { .. } => Some(Negative),
            Self::Shortened { .. } => Some(Failed),
            Self::Read { .. } | Self::Temporary { .. } | Self::Stream { .. } => None,
            Self::Survey { source, .. } => source.class(),
            Self::Integer(e) => e.class(),
            // Their source, not themselves, is the next of the chain.
            Self::File(e) => e.class(),
            Self::Kept { source, .. } => source.class(),
        }
    }
}

impl Classed for BenchError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::NoLengths { .. } | Self::NoCommonPlan { .. } | Self::TooShort { .. } => {
                Some(BadInput)
            }
            Self::Batch(_) | Self::Bigprime(_) | Self::CollatzRequest(_) => Some(BadInput),
            Self::Wrong(_) => Some(Negative),
            Self::Field(_)
            | Self::Transform(_)
            | Self::Argument(_)
            | Self::WrongOnCpu(_)
            | Self::NoTable { .. }
            | Self::LeftToCpu
            | Self::NoMemory
            | Self::NoMemoryForOperands { .. }
            | Self::Missing { .. }
            | Self::NoResult { .. }
            | Self::NoMethod { .. }
            | Self::NotTimed
            | Self::Clock => Some(Failed),
            // Its source, not itself, is the next of the chain.
            Self::Row { source, .. } => source.class(),
            Self::GfnFft(e) => e.class(),
            Self::SmallPrimes(e) => e.class(),
            Self::Directory { .. } | Self::Folder { .. } => None,
            Self::Checkpoint(e) => e.class(),
            Self::Collatz(e) => e.class(),
            Self::Open(e) => e.class(),
            Self::Device(e) => e.class(),
            Self::Engine(e) => e.class(),
            Self::Integer(e) => e.class(),
            Self::Plan(e) => e.class(),
            Self::Test(e) => e.class(),
            Self::Tuning(e) => e.class(),
        }
    }
}

impl Classed for IntegerError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::Width { .. }
            | Self::OddLimbs { .. }
            | Self::Length { .. }
            | Self::TooWide { .. }
            | Self::Counts { .. }
            | Self::Places
            | Self::Output { .. }
            | Self::Text { .. }
            | Self::Overflow { .. }
            | Self::TooMany { .. }
            | Self::NoMethod { .. }
            | Self::ZeroModulus { .. }
            | Self::NotOne { .. }
            | Self::OnlyOnCpu { .. } => Some(BadInput),
            Self::Memory { .. } | Self::Threads { .. } => Some(Failed),
            Self::Device(e) => e.class(),
        }
    }
}

impl Classed for PrimeFftError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::Length { .. } | Self::Batch { .. } | Self::Words { .. } => Some(BadInput),
            Self::Device(e) => e.class(),
        }
    }
}

impl Classed for GfnFftError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::Length { .. }
            | Self::Radix(_)
            | Self::Batch { .. }
            | Self::Words { .. }
            | Self::Field(_)
            | Self::SmallFields => Some(BadInput),
            Self::Device(e) => e.class(),
        }
    }
}

impl Classed for Ntt50Error {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::NoRoot { .. } | Self::Size { .. } | Self::Length { .. } => Some(BadInput),
            Self::Device(e) => e.class(),
        }
    }
}

impl Classed for SmallPrimesError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::NoRoot { .. }
            | Self::ConvolutionsOnly
            | Self::Primes(_)
            | Self::Length { .. } => Some(BadInput),
            Self::Ntt(e) => e.class(),
            Self::Device(e) => e.class(),
        }
    }
}
