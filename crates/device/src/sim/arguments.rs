//! Checks the arguments of a kernel against its parameters.

use std::ffi::c_void;

use crate::Arg;

/// An argument in the form that the simulator's run-time library reads: eight bytes that begin with
/// the value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Argument(u64);

impl Argument {
    pub(super) fn pointer(&mut self) -> *mut c_void {
        (&raw mut self.0).cast()
    }

    /// Converts an argument. The bytes of its value come first in memory; a 32-bit value is
    /// followed by zeros.
    pub(super) fn new(arg: Arg) -> Self {
        let mut bytes = [0; 8];
        match arg {
            Arg::Pointer(v) => bytes = v.address().to_ne_bytes(),
            Arg::U64(v) => bytes = v.to_ne_bytes(),
            Arg::I64(v) => bytes = v.to_ne_bytes(),
            Arg::F64(v) => bytes = v.to_ne_bytes(),
            Arg::U32(v) => bytes[..4].copy_from_slice(&v.to_ne_bytes()),
            Arg::I32(v) => bytes[..4].copy_from_slice(&v.to_ne_bytes()),
        }
        Self(u64::from_ne_bytes(bytes))
    }
}

/// Returns the letter that represents an argument's type in `sim/interface.h`: `p` for a pointer,
/// `u` and `U` for unsigned integers of 32 and 64 bits, `i` and `I` for signed integers of 32 and
/// 64 bits, and `d` for a double.
pub(super) fn letter(arg: Arg) -> u8 {
    match arg {
        Arg::Pointer(_) => b'p',
        Arg::U32(_) => b'u',
        Arg::I32(_) => b'i',
        Arg::U64(_) => b'U',
        Arg::I64(_) => b'I',
        Arg::F64(_) => b'd',
    }
}

/// Returns a description of the first mismatch between the letters of a kernel's parameters and the
/// arguments; `None` if all match.
pub(super) fn mismatch(parameters: &[u8], args: &[Arg]) -> Option<String> {
    if parameters.len() != args.len() {
        return Some(format!("it needs {} arguments, not {}", parameters.len(), args.len()));
    }
    let at = (0..args.len()).find(|&i| parameters[i] != letter(args[i]))?;
    let (wanted, given) = (kind(parameters[at]), kind(letter(args[at])));
    Some(format!("its parameter {at} is {wanted}, the argument is {given}"))
}

fn kind(letter: u8) -> &'static str {
    match letter {
        b'p' => "a pointer",
        b'u' => "unsigned",
        b'i' => "int",
        b'U' => "unsigned long long",
        b'I' => "long long",
        _ => "double",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_match_in_number_and_type() {
        assert_eq!(mismatch(b"pU", &[Arg::NULL, Arg::U64(1)]), None);
        let wrong = mismatch(b"pU", &[Arg::NULL, Arg::U32(1)]).unwrap();
        assert_eq!(wrong, "its parameter 1 is unsigned long long, the argument is unsigned");
        assert_eq!(mismatch(b"p", &[]).unwrap(), "it needs 1 arguments, not 0");
    }
}
