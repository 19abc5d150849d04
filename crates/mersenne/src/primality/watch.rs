//! Jacobi checks of a Lucas–Lehmer test, made on the CPU while the test runs.
//!
//! For n ≥ 1 the symbol (s_n − 2 | M_p) is −1. That of a Riesel test modulo N is −1 too, or 0 if
//! s_n − 2 and a composite N have a common factor.
//!
//! Proof: s_n − 2 = (s_(n−1) − 2)(s_(n−1) + 2). For n ≥ 1, s_n + 2 = s_(n−1)² is a square. So the symbol
//! is the same for all n ≥ 1, or becomes 0. For n = 1 it is (s_0 − 2 | M_p)(s_0 + 2 | M_p), which is −1
//! for the starts 4, 10 and 2/3. Riesel's start is s_0 = V_k(P), and s_0² − 4 = (P² − 4)·U_k(P)². If
//! U_k(P) is prime to N, its symbol is that of P² − 4, which is −1.
//!
//! After an error the symbol is 1 or −1 with probability ½ each. By the same identity, the symbol
//! can change at the first squaring after the error, but not at later ones. So an error is detected
//! by the next check or by none.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::Clock;
use crate::checkpoint::State;
use crate::jacobi::jacobi_of_ll;
use crate::{DigestedResidue, Plan, Residue};

/// The minimum pause between two checks of a test on the CPU, as a multiple of the duration of a
/// check. With this pause, checks slow the test down by at most 1/100.
const PAUSES_ON_CPU: u32 = 100;
/// The minimum pause between two checks of a test on a device, as a multiple of the duration of a
/// check. It is shorter than on the CPU, because the test does not need the CPU.
const PAUSES_BESIDE_A_DEVICE: u32 = 10;
/// The largest number of threads of one check. More threads save little time.
const THREADS: usize = 4;

/// The Jacobi checks of a test, made on other threads for one state at a time.
pub(super) struct JacobiWatch {
    clock: &'static dyn Clock,
    threads: usize,
    pauses: u32,
    running: Option<Running>,
    /// The time at which the next check may start; `None` means at once.
    next: Option<Instant>,
}

struct Running {
    state: State,
    begun: Instant,
    cancelled: Arc<AtomicBool>,
    /// The residue with its digest, which was computed before the check.
    seal: DigestedResidue,
    thread: JoinHandle<Option<bool>>,
}

/// A state and the result of its Jacobi check.
pub(super) struct Judged {
    pub(super) state: State,
    /// The residue with its digest, which was computed before the check.
    pub(super) seal: DigestedResidue,
    pub(super) passed: bool,
}

impl JacobiWatch {
    pub(super) fn new(plan: &Plan, clock: &'static dyn Clock) -> Self {
        let pauses = if plan.is_on_cpu() { PAUSES_ON_CPU } else { PAUSES_BESIDE_A_DEVICE };
        let threads = plan.threads().min(THREADS);
        Self { clock, threads, pauses, running: None, next: None }
    }

    /// Starts a check of the state if a check is due and no other check is under way. Does nothing
    /// for the first state of the test and for states that are already verified.
    pub(super) fn offer(&mut self, state: &State) {
        let early = self.next.is_some_and(|next| self.clock.now() < next);
        if early || self.running.is_some() || state.iteration == 0 || state.is_verified() {
            return;
        }
        let cancelled = Arc::new(AtomicBool::new(false));
        let (residue, threads) = (state.residue.clone(), self.threads);
        let seal = DigestedResidue::new(residue.clone());
        let stop = Arc::clone(&cancelled);
        let work = move || agrees(&residue, threads, &|| stop.load(Ordering::Relaxed));
        // If no thread can be started, the check at the end must do.
        if let Ok(thread) = thread::Builder::new().name("jacobi".into()).spawn(work) {
            let (state, begun) = (state.clone(), self.clock.now());
            self.running = Some(Running { state, begun, cancelled, seal, thread });
        }
    }

    /// Returns the result of the check under way if it has finished, otherwise `None`. Does not
    /// wait.
    pub(super) fn poll(&mut self) -> Option<Judged> {
        if self.running.as_ref()?.thread.is_finished() { self.wait() } else { None }
    }

    /// Waits for the check under way and returns its result. Returns `None` if no check is under
    /// way, if the check was cancelled or panicked, or if the state changed in memory during the
    /// check.
    pub(super) fn wait(&mut self) -> Option<Judged> {
        let Running { state, begun, seal, thread, .. } = self.running.take()?;
        let passed = thread.join().ok()??;
        let now = self.clock.now();
        let pause = now.saturating_duration_since(begun).saturating_mul(self.pauses);
        self.next = now.checked_add(pause.max(Duration::from_millis(1)));
        // If memory changed the state during the check, the check says nothing about it.
        let intact = seal.is_intact() && *seal.residue() == state.residue;
        intact.then_some(Judged { state, seal, passed })
    }

    /// Does the same as [`Self::wait`], unless `cancelled` returns true before the check has
    /// finished. In that case, abandons the check and returns `None`.
    pub(super) fn wait_unless(&mut self, cancelled: &dyn Fn() -> bool) -> Option<Judged> {
        const LOOK_EVERY: Duration = Duration::from_millis(5);
        while !self.running.as_ref()?.thread.is_finished() {
            if cancelled() {
                self.forget();
                return None;
            }
            thread::sleep(LOOK_EVERY);
        }
        self.wait()
    }

    /// Abandons the check under way, if any.
    pub(super) fn forget(&mut self) {
        if let Some(Running { cancelled, .. }) = self.running.take() {
            cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// Checks a residue on the calling thread and returns whether it passes. Before the first
    /// squaring, every residue passes. Returns `None` if `cancelled` returned true.
    pub(super) fn allows(
        &self,
        iteration: u64,
        residue: &Residue,
        cancelled: &dyn Fn() -> bool,
    ) -> Option<bool> {
        if iteration == 0 { Some(true) } else { agrees(residue, self.threads, cancelled) }
    }

    /// Returns whether the residues after this state will pass their checks if they are computed
    /// correctly. For this, the Jacobi symbols of s − 2 and of s + 2 must both be right, where s is
    /// the residue of the state. (Directly after an error, one symbol may be right and the other
    /// wrong.) Returns `None` if `cancelled` returned true.
    pub(super) fn will_allow(&self, state: &State, cancelled: &dyn Fn() -> bool) -> Option<bool> {
        let residue = &state.residue;
        if !self.allows(state.iteration, residue, cancelled)? {
            return Some(false);
        }
        if state.iteration == 0 {
            return Some(true);
        }
        // (s + 4) − 2.
        let symbol = jacobi_of_ll(&residue.plus(4), self.threads, cancelled)?;
        Some(symbol != -1)
    }
}

impl Drop for JacobiWatch {
    fn drop(&mut self) {
        self.forget();
    }
}

/// Returns whether the Jacobi symbol of the residue is right. A symbol of 0, from a number that
/// shares a factor with N, is no evidence of an error, and counts as right. Returns `None` if
/// `cancelled` returned true.
fn agrees(residue: &Residue, threads: usize, cancelled: &dyn Fn() -> bool) -> Option<bool> {
    jacobi_of_ll(residue, threads, cancelled).map(|symbol| symbol != 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::Confirmation;
    use crate::engine::fp64::Fp64;
    use crate::{ErrorCounts, Exponent, LlStart, SystemClock, TestKind};

    /// Returns the state after the first iteration, s_1 = 14 mod M127.
    fn state() -> State {
        State {
            kind: TestKind::Ll(LlStart::Four),
            iteration: 1,
            residue: Residue::from_u64(127u32, 14),
            shift: 0,
            elapsed: Duration::ZERO,
            errors: ErrorCounts::default(),
            least_length: None,
            confirmed: Confirmation::No,
            gerbicz: None,
            lucas: None,
        }
    }

    #[test]
    fn a_state_that_changes_in_memory_while_it_is_checked_is_not_confirmed() {
        let plan = Plan::of_family(Exponent::new(127).unwrap(), &Fp64, None, Some(1)).unwrap();
        for changed in [false, true] {
            let mut watch = JacobiWatch::new(&plan, &SystemClock);
            watch.offer(&state());
            if changed && let Some(running) = &mut watch.running {
                // As if memory had changed the limbs that state and seal share.
                let changed = Residue::from_u64(127u32, 15);
                running.state.residue = changed.clone();
                running.seal = running.seal.clone().changed_to(changed);
            }
            assert_eq!(watch.wait().map(|judged| judged.passed), (!changed).then_some(true));
        }
    }
}
