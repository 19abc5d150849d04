//! Exit codes of errors of tests, proofs, work lists and their files.

use super::*;

impl Classed for EngineError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::Unusable { .. } => Some(BadInput),
            Self::RoundOff { .. } | Self::NoRoom { .. } => Some(Failed),
            Self::Device(e) => e.class(),
        }
    }
}

impl Classed for PlanError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::NoEngine { .. }
            | Self::OutOfRange { .. }
            | Self::TooShort { .. }
            | Self::NoLength { .. } => Some(BadInput),
            Self::Unusable(e) => e.class(),
        }
    }
}

impl Classed for TestError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::PastTarget { .. } | Self::NoStart => Some(BadInput),
            // A plan or an engine that fails in mid-run is no fault of the request.
            Self::Plan(_)
            | Self::Engine(_)
            | Self::Device { .. }
            | Self::Impossible { .. }
            | Self::CofactorDiffers { .. }
            | Self::Memory { .. }
            | Self::RepeatedError { .. }
            | Self::Unreliable { .. } => Some(Failed),
            // Its source, not itself, is the next of the chain.
            Self::Checkpoint(e) => e.class(),
        }
    }
}

impl Classed for CheckpointError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::Directory { .. } | Self::Unreadable { .. } => None,
            Self::Later { .. } | Self::Locked { .. } => Some(BadInput),
        }
    }
}

impl Classed for ProofError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::Power { .. }
            | Self::Foreign { .. }
            | Self::Exponent(_)
            | Self::Factor(_)
            | Self::Bytes { .. } => Some(BadInput),
            Self::Plan(_)
            | Self::Engine(_)
            | Self::NoResidues { .. }
            | Self::Wrong { .. }
            | Self::Unreliable { .. } => Some(Failed),
            Self::Residue(e) => e.class(),
        }
    }
}

impl Classed for ResidueFileError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::Unreadable { .. } => None,
            Self::Unsound { .. } => Some(Failed),
        }
    }
}

impl Classed for LockError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::Held { .. } => Some(BadInput),
            Self::Stopped { .. } => Some(Stopped),
            Self::Make { .. } => None,
        }
    }
}

impl Classed for WorkFileError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::NotAFile { .. } | Self::TooLarge { .. } | Self::Restless { .. } => Some(BadInput),
            Self::Lock(e) => e.class(),
            Self::Read { .. } | Self::Write { .. } => None,
        }
    }
}

impl Classed for ResultsError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::NotAFile { .. } => Some(BadInput),
            Self::Read { .. } | Self::Write { .. } => None,
            Self::Format { .. } => Some(Failed),
        }
    }
}

impl Classed for ProofFileError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::NotAFile { .. }
            | Self::Format { .. }
            | Self::NotAFolder { .. }
            | Self::Exists { .. } => Some(BadInput),
            Self::Read { .. } | Self::Write { .. } => None,
        }
    }
}

impl Classed for RunError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::NoTestOfM2
            | Self::Exponent(_)
            | Self::Factor(_)
            | Self::SameEngine { .. }
            | Self::TestedWithout { .. }
            | Self::NoAssignment(_)
            | Self::TooManySquarings { .. }
            | Self::WorkerAtWork { .. }
            | Self::TooManyWorkers { .. } => Some(BadInput),
            Self::Checkpoint(e) => e.class(),
            Self::Test(e) => e.class(),
            Self::Stored(e) => e.class(),
            Self::Results(e) => e.class(),
            Self::NotProven { source, .. } => source.class(),
            Self::ProofFile(e) => e.class(),
            Self::Proof(e) => e.class(),
            Self::WorkFile(e) => e.class(),
            Self::StartFile(e) => e.class(),
            Self::Plan(_)
            | Self::Residues { .. }
            | Self::NotRecorded { .. }
            | Self::FactorNotRecorded { .. }
            | Self::NotKept { .. }
            | Self::Undelivered(_)
            | Self::Directory { .. }
            | Self::Unreadable { .. }
            | Self::NotAProof { .. }
            | Self::LineStays { .. }
            | Self::Claim { .. }
            | Self::WorkerLock { .. } => None,
        }
    }
}

impl Classed for StoredError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::Read { .. }
            | Self::SetAside { .. }
            | Self::Write { .. }
            | Self::Remove { .. } => None,
        }
    }
}

impl Classed for MakeError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::GivenUp(_) => Some(Failed),
            Self::Proof(e) => e.class(),
            Self::Format(e) => e.class(),
            Self::File(e) => e.class(),
        }
    }
}

impl Classed for StartFileError {
    fn class(&self) -> Option<Exit> {
        match self {
            Self::NotAFile(e) => e.class(),
            Self::NotAResidue { .. } => Some(BadInput),
            Self::Read { .. } | Self::Remove { .. } => None,
        }
    }
}
