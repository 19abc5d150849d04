//! Computes the sequences of Lucas–Lehmer and PRP tests directly on an engine. The functions use
//! neither checks nor checkpoints, because these could hide errors of the engine. M_p denotes
//! 2^p − 1.

use warpint_mersenne::{Engine, EngineError, LlStart, Residue, Shift, Step};

/// Returns the starting value s_0 of a Lucas–Lehmer sequence modulo M_p. Returns `None` if the
/// start is 2/3 and p is even, because 3 then divides M_p.
#[must_use]
pub fn ll_start(p: u32, start: LlStart) -> Option<Residue> {
    match start {
        LlStart::Four => Some(Residue::from_u64(p, 4)),
        LlStart::Ten => Some(Residue::from_u64(p, 10)),
        LlStart::TwoThirds => Residue::from_u64(p, 2).divided_by(3),
    }
}

/// Returns s_n of the sequence s_(i+1) = s_i² − 2 mod M_p that starts with s_0, where p is the
/// exponent of the engine. The engine stores s_0 with the given shift.
///
/// Uses register 0 and n squarings.
pub fn ll_residue(
    engine: &mut dyn Engine,
    s_0: &Residue,
    n: u64,
    shift: Shift,
) -> Result<Residue, EngineError> {
    let p = engine.exponent();
    engine.write(0, s_0, shift)?;
    engine.square(0, n, Step::SquareMinusTwo, shift)?;
    engine.read(0, shift.after_squarings(n, p))
}

/// Returns 3^(2^n) mod M_p, where p is the exponent of the engine. Uses register 0 and n squarings.
pub fn power_residue(engine: &mut dyn Engine, n: u64) -> Result<Residue, EngineError> {
    engine.set(0, 3, Shift::ZERO)?;
    engine.square(0, n, Step::Square, Shift::ZERO)?;
    engine.read(0, Shift::ZERO)
}

/// Returns 3^(M_p − 1) = 3^(2^p)/9 mod M_p, the PRP residue of type 1, where p is the exponent of
/// the engine. Returns `None` if 3 divides M_p. Uses register 0 and p squarings.
pub fn prp_residue(engine: &mut dyn Engine) -> Result<Option<Residue>, EngineError> {
    let p = u64::from(engine.exponent());
    Ok(power_residue(engine, p)?.divided_by(9))
}
