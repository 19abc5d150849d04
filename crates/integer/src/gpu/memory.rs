//! Views of numbers in device memory, and checks that buffers hold the data that a kernel reads and
//! writes.

use bytemuck::Pod;
use warpint_device::{Arg, Buffer, Cells, Device, DeviceError, View, assert_room};

use super::{Operand, Results};

/// The largest number of limbs of a number. Kernels count limbs in 32 bits.
pub(super) const MOST_LIMBS: usize = 1 << 20;

/// Returns an error unless each operand has `count` numbers, `out` has room for `count` results,
/// and all are aligned as kernels require. A broadcast operand needs only one number.
pub(super) fn fits(
    count: usize,
    operands: &[Operand<'_>],
    out: Results<'_>,
) -> Result<(), DeviceError> {
    operands_fit(count, operands)?;
    has(out.data.len(), count, out.limbs)?;
    aligned(out.data.address(), out.limbs)
}

pub(super) fn operands_fit(count: usize, operands: &[Operand<'_>]) -> Result<(), DeviceError> {
    operands.iter().try_for_each(|a| {
        let numbers = if a.broadcast { count.min(1) } else { count };
        has(a.data.len(), numbers, a.limbs)?;
        aligned(a.data.address(), a.limbs)
    })
}

/// Returns an error unless memory of `len` words holds `count` numbers of `limbs` limbs, and
/// `limbs` is from 1 to [`MOST_LIMBS`].
pub(super) fn has(len: usize, count: usize, limbs: usize) -> Result<(), DeviceError> {
    let needed = count.checked_mul(limbs).filter(|_| (1..=MOST_LIMBS).contains(&limbs));
    if needed.is_some_and(|needed| needed <= len) {
        return Ok(());
    }
    Err(DeviceError::Failed {
        what: "an operation on a batch".into(),
        message: format!("{count} numbers of {limbs} limbs do not fit in memory of {len} words"),
    })
}

/// Returns how many limbs kernels load at once from numbers of `limbs` limbs: 4, 2 or 1, the
/// largest of these that divides `limbs`.
fn chunk(limbs: usize) -> usize {
    1 << limbs.trailing_zeros().min(2)
}

/// Returns an error unless `address` is a multiple of the number of bytes that kernels load at once
/// from numbers of `limbs` limbs.
fn aligned(address: u64, limbs: usize) -> Result<(), DeviceError> {
    let bytes = chunk(limbs) * size_of::<u32>();
    if address.is_multiple_of(bytes as u64) {
        return Ok(());
    }
    Err(DeviceError::Failed {
        what: "an operation on a batch".into(),
        message: format!("numbers of {limbs} limbs do not begin at a multiple of {bytes} bytes"),
    })
}

/// Returns the memory in `kept` if it has at least `len` elements. Otherwise allocates memory,
/// stores it in `kept` and returns it.
pub(super) fn at_least<'a, T: Pod>(
    kept: &'a mut Option<Buffer<T>>,
    device: &Device,
    len: usize,
) -> Result<&'a mut Buffer<T>, DeviceError> {
    match kept.take().filter(|buffer| buffer.len() >= len) {
        Some(buffer) => Ok(kept.insert(buffer)),
        None => Ok(kept.insert(device.alloc(len)?)),
    }
}

/// Returns a pointer to the memory `to` as a kernel argument. The pointer is null if `to` is
/// `None`.
pub(super) fn pointer(to: Option<impl Into<Arg>>) -> Arg {
    to.map_or(Arg::NULL, Into::into)
}

/// A view of 32-bit words in a device's memory.
pub(super) trait Words: Copy + Into<Arg> {
    fn len(self) -> usize;
    fn address(self) -> u64;
    /// Returns a view of the words that begins at index `first`.
    fn beginning(self, first: usize) -> Self;
}

impl Words for View<'_, u32> {
    fn len(self) -> usize {
        View::len(&self)
    }

    fn address(self) -> u64 {
        View::address(&self)
    }

    fn beginning(self, first: usize) -> Self {
        self.part(first..)
    }
}

impl Words for Cells<'_, u32> {
    fn len(self) -> usize {
        Cells::len(&self)
    }

    fn address(self) -> u64 {
        Cells::address(&self)
    }

    fn beginning(self, first: usize) -> Self {
        self.part(first..)
    }
}

/// A view of `limbs` limbs of the number of each instance. The numbers begin `stride` limbs apart;
/// a stride of 0 means one number for all instances. Kernels of operations in several steps use
/// such views of parts of numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<W> {
    pub(super) words: W,
    pub(super) stride: u64,
    pub(super) limbs: usize,
}

/// Numbers that a kernel reads.
pub(super) type Numbers<'a> = Rows<View<'a, u32>>;

/// Numbers that kernels read and write.
pub(super) type Places<'a> = Rows<Cells<'a, u32>>;

impl<W: Words> Rows<W> {
    /// Creates a view of numbers of `limbs` limbs, stored contiguously.
    pub(super) fn new(words: W, limbs: usize) -> Self {
        Self { words, stride: limbs as u64, limbs }
    }

    /// Returns a view of `limbs` limbs of each number, beginning at limb `first`.
    ///
    /// # Panics
    /// If the numbers have fewer than `first` + `limbs` limbs.
    pub(super) fn part(self, first: usize, limbs: usize) -> Self {
        assert_room("a number", self.limbs, first + limbs);
        Self { words: self.words.beginning(first), limbs, ..self }
    }

    /// Returns a view of the numbers that begins at number `first`.
    ///
    /// # Panics
    /// If the memory ends before number `first`.
    pub(super) fn skip(self, first: usize) -> Self {
        Self { words: self.words.beginning(first * self.stride as usize), ..self }
    }

    pub(super) fn pointer(self) -> Arg {
        self.words.into()
    }

    /// Asserts that there are `count` numbers.
    ///
    /// # Panics
    /// If there are fewer than `count` numbers.
    #[track_caller]
    pub(super) fn assert_has(self, count: usize) {
        let needed =
            count.checked_sub(1).map_or(0, |last| last * self.stride as usize + self.limbs);
        assert_room("numbers", self.words.len(), needed);
    }

    /// Asserts that there are `count` numbers, aligned for kernels that load several limbs at once:
    /// address and stride are multiples of four limbs if 4 divides `limbs`, and of two limbs if
    /// `limbs` is any other even number.
    ///
    /// # Panics
    /// If there are fewer than `count` numbers or they are not aligned.
    #[track_caller]
    pub(super) fn assert_holds(self, count: usize) {
        self.assert_has(count);
        let Self { words, stride, limbs } = self;
        let chunk = chunk(limbs) as u64;
        assert!(
            count == 0
                || (words.address().is_multiple_of(4 * chunk) && stride.is_multiple_of(chunk)),
            "numbers of {limbs} limbs, {stride} apart, are not aligned"
        );
    }
}

impl<'a> Places<'a> {
    /// Returns a view of the same numbers for a kernel that only reads them.
    pub(super) fn numbers(self) -> Numbers<'a> {
        Rows { words: self.words.view(), stride: self.stride, limbs: self.limbs }
    }
}

impl<'a> From<Operand<'a>> for Numbers<'a> {
    fn from(a: Operand<'a>) -> Self {
        Self { words: a.data, stride: a.stride(), limbs: a.limbs }
    }
}

impl<'a> From<Results<'a>> for Places<'a> {
    fn from(out: Results<'a>) -> Self {
        Self::new(out.data, out.limbs)
    }
}
