//! Verifiers that use a given number of threads.

use std::sync::Arc;

use rayon::{ThreadPool, ThreadPoolBuilder};
use warpint::collatz::{CollatzError, Method, Region, Verified, Verifier, Watch};

use crate::failure::Failure;

/// Creates a pool of threads; `None` stands for rayon's own pool.
pub(super) fn pool(threads: Option<usize>) -> Result<Option<Arc<ThreadPool>>, Failure> {
    let Some(threads) = crate::choice::threads(threads)? else { return Ok(None) };
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let failed = |error| Failure::memory(format!("cannot start {threads} threads: {error}"));
    Ok(Some(Arc::new(pool.map_err(failed)?)))
}

/// A verifier that computes in a pool.
pub(super) struct Pooled {
    pub(super) verifier: Box<dyn Verifier>,
    pub(super) pool: Arc<ThreadPool>,
}

impl Verifier for Pooled {
    fn method(&self) -> Method {
        self.verifier.method()
    }

    fn version(&self) -> u32 {
        self.verifier.version()
    }

    fn parameters(&self) -> String {
        self.verifier.parameters()
    }

    fn place(&self) -> String {
        self.verifier.place()
    }

    fn takes(&self, region: &Region) -> Result<(), CollatzError> {
        self.verifier.takes(region)
    }

    fn verify(
        &mut self,
        region: &Region,
        watch: &dyn Watch,
    ) -> Result<Option<Verified>, CollatzError> {
        let Self { verifier, pool } = self;
        pool.install(|| verifier.verify(region, watch))
    }
}
