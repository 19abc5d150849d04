//! Delays on a device.

mod shape;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use num_bigint::BigUint;
use warpint_device::{Arg, Buffer, Device, DeviceError, Kernel, Launch, assert_room};

use crate::CollatzError;
use crate::delay::{
    Bound, DelayRecord, DelayTable, Delays, Groups, Host, MOST_COMMON, StepTable, Survey,
    check_range, exact_delay,
};

pub use shape::DelayShape;
use shape::Kind;
pub(super) use shape::sources;

/// The number of words of the list of candidates. The list is the second part of the buffer of
/// results.
const LIST: usize = 1 << 16;
/// The number of words of the counters. The counters are the first part of the buffer of results.
const HEAD: usize = 4;
/// The bit of an entry of the list of candidates that is set if the host must compute the delay.
const UNKNOWN: u64 = 1 << 63;
/// The number of low bits of a key. The key of a number with offset i in its range has 2^44 − 1 − i
/// in these bits, and the number's delay in the higher bits. So the largest key belongs to the
/// smallest number with the largest delay.
const OFFSET_BITS: u32 = 44;
/// The value that the device writes in place of a delay that the host must compute.
const TOO_LONG: u16 = u16::MAX;
/// The largest count of numbers that a lane processes at a time. These numbers belong to one
/// residue.
const EACH: u32 = 256;
/// Groups of residues are used only if each residue has at least this count of numbers in a launch.
const WORTH_GROUPS: u64 = 8;
/// The largest count of numbers whose delays one launch writes.
const WRITTEN: usize = 1 << 26;

/// An engine that computes delays on a device. It leaves short ranges, and ranges with small
/// numbers, to the CPU.
#[derive(Debug)]
pub struct DelaysOnDevice {
    device: Device,
    shape: DelayShape,
    steps: StepTable,
    small: DelayTable,
    host: Host,
    kernels: HashMap<(u32, Kind), Kernel>,
    steps_there: Buffer<u32>,
    small_there: Buffer<u16>,
    results: Buffer<u64>,
    written: Option<Buffer<u16>>,
    /// The number of bits of the residues in groups; `u32::MAX` means that no groups are used.
    group_bits: u32,
    /// The groups of residues, and a buffer on the device with their smallest residues and sizes;
    /// `None` before their first use.
    groups: Option<(Groups, Buffer<u32>)>,
    /// The largest count of numbers that one launch processes.
    chunk: u64,
    /// Ranges with fewer numbers than this are left to the CPU.
    least: u64,
    /// The least number of 32-bit words that a kernel uses for an intermediate value, from 2 to 4.
    /// Launches with larger numbers use more words, up to 4.
    words: u32,
}

/// The parameters of a launch of the kernel.
struct Range {
    from: u128,
    numbers: u64,
    words: u32,
    common: u32,
    kind: Kind,
}

impl DelaysOnDevice {
    /// Creates the computation on a device. The kernels have the default shape for the device's
    /// shared memory, and are compiled when they are first used.
    ///
    /// # Errors
    /// The device fails or lacks memory.
    pub fn new(device: &Device) -> Result<Self, CollatzError> {
        Self::with_shape(device, DelayShape::for_memory(device.info().shared_memory_per_block))
    }

    /// Creates the computation on a device with the given shape, or the nearest valid one. Kernels
    /// are compiled when they are first used.
    ///
    /// # Errors
    /// The device fails or lacks memory.
    pub fn with_shape(device: &Device, shape: DelayShape) -> Result<Self, CollatzError> {
        let shape = shape.possible();
        let steps = StepTable::new(shape.step_bits);
        let small = DelayTable::new(shape.small_bits);
        Ok(Self {
            steps_there: device.upload(steps.entries())?,
            small_there: device.upload(small.delays())?,
            results: device.alloc(HEAD + LIST)?,
            written: None,
            group_bits: MOST_COMMON,
            groups: None,
            device: device.clone(),
            shape,
            steps,
            small,
            host: Host::default(),
            kernels: HashMap::new(),
            chunk: 1 << 30,
            least: 1 << 16,
            words: 2,
        })
    }

    /// Changes sizes, for measurements and tests. A launch processes at most `chunk` numbers, and
    /// never more than 2^30. Ranges of fewer than `least` numbers are left to the CPU. Intermediate
    /// values have at least `words` words of 32 bits, from 2 to 4.
    #[must_use]
    pub fn with_sizes(self, chunk: u64, least: u64, words: u32) -> Self {
        Self { chunk: chunk.clamp(1, 1 << 30), least, words: words.clamp(2, 4), ..self }
    }

    /// Makes surveys use groups of residues of `bits` bits, at most 20; `None` means no groups.
    #[must_use]
    pub fn with_groups(self, bits: Option<u32>) -> Self {
        Self {
            group_bits: bits.map_or(u32::MAX, |bits| bits.min(MOST_COMMON)),
            groups: None,
            ..self
        }
    }

    /// Returns whether a range is left to the CPU. This is so if it has too few numbers, or if its
    /// first number is in the table of delays.
    fn is_for_host(&self, from: u128, numbers: u64) -> bool {
        numbers < self.least.max(1) || from >> self.shape.small_bits == 0
    }

    /// Returns the parameters of a launch for all n with `from` ≤ n < `from` + `numbers`. Numbers
    /// share at most `common` first steps, or `group_bits` first steps for [`Kind::Merged`].
    fn range(&self, from: u128, numbers: u64, common: u32, kind: Kind) -> Range {
        let last = from + u128::from(numbers - 1);
        // About one number in 2^10 rises by 10 bits, and is then walked twice.
        let bits = 128 - last.leading_zeros() + self.shape.growth() + 10;
        let words = bits.div_ceil(32).clamp(self.words, 4);
        // Each lane processes some hundred numbers; the first number of a residue is at least
        // 2^common.
        let common = match kind {
            Kind::Merged => self.group_bits,
            _ => common.min(from.ilog2()).min(numbers.ilog2().saturating_sub(8)),
        };
        Range { from, numbers, words, common, kind }
    }

    /// Returns the parameters of a launch for a part of a range. The part begins with the number
    /// `first` and has at most `numbers` numbers. They share at most `common` first steps.
    fn part(&self, first: u128, numbers: u64, common: u32) -> Range {
        let common = common.min(first.ilog2());
        // Few residues with many numbers each would leave most of the device idle.
        let numbers = numbers.min(1 << (common + 12));
        if common < self.group_bits {
            return self.range(first, numbers, common, Kind::Survey);
        }
        let block = 1u64 << self.group_bits;
        let before = (first % u128::from(block)) as u64;
        if numbers < WORTH_GROUPS * block {
            self.range(first, numbers, common, Kind::Survey)
        } else if before != 0 {
            self.range(first, block - before, common, Kind::Survey)
        } else {
            self.range(first, numbers / block * block, common, Kind::Merged)
        }
    }

    /// Returns the groups of residues and their buffer on the device. Both are created on first
    /// use.
    fn groups(&mut self) -> Result<&(Groups, Buffer<u32>), DeviceError> {
        if self.groups.is_none() {
            let groups = Groups::new(self.group_bits);
            let there = self.device.upload(&groups.heads())?;
            self.groups = Some((groups, there));
        }
        self.groups.as_ref().ok_or_else(|| DeviceError::Failed {
            what: "delays on a device".into(),
            message: "groups of residues are disabled".into(),
        })
    }

    fn kernel(&mut self, words: u32, kind: Kind) -> Result<Kernel, DeviceError> {
        if let Some(kernel) = self.kernels.get(&(words, kind)) {
            return Ok(kernel.clone());
        }
        let program = self.device.program(&self.shape.source(words, kind))?;
        let kernel = program.kernel("delays", self.shape.shared_bytes())?;
        self.kernels.insert((words, kind), kernel.clone());
        Ok(kernel)
    }

    /// Launches the kernel. In a survey, a number becomes a candidate if one of its table steps
    /// begins at a value of at least `limit`.
    ///
    /// # Panics
    /// If the launch writes delays and the buffer for them is too short.
    fn launch(&mut self, range: &Range, limit: u128) -> Result<(), DeviceError> {
        let kernel = self.kernel(range.words, range.kind)?;
        let (groups, count) = match range.kind {
            Kind::Merged => {
                let (_, there) = self.groups()?;
                (Arg::from(there), there.len() as u32 / 2)
            }
            Kind::Survey | Kind::Write => (Arg::NULL, 1 << range.common),
        };
        self.results.clear()?;
        // Numbers from 2^hot on are examined again; that includes all whose words may overflow.
        let lost = 32 * (range.words - 1) + self.shape.lost();
        let hot = limit.checked_ilog2().unwrap_or(0).min(lost);
        let mask = |word: u32| u32::MAX.checked_shl(hot.saturating_sub(32 * word)).unwrap_or(0);
        // A survey writes no delays.
        let written = if range.kind == Kind::Write { range.numbers as usize } else { 0 };
        assert_room("delays", self.written.as_ref().map_or(0, Buffer::len), written);
        let out = self.written.as_mut().map_or(Arg::NULL, Arg::from);
        assert_room("steps", self.steps_there.len(), 1 << self.shape.step_bits);
        assert_room("delays of small numbers", self.small_there.len(), 1 << self.shape.small_bits);
        let args = [
            (&mut self.results).into(),
            out,
            (&self.steps_there).into(),
            (&self.small_there).into(),
            groups,
            Arg::U32(count),
            Arg::U32(EACH),
            Arg::U64(range.from as u64),
            Arg::U64((range.from >> 64) as u64),
            Arg::U64(range.numbers),
            Arg::U32(range.common),
            Arg::U32(LIST as u32),
            Arg::U32(mask(1)),
            Arg::U32(mask(2)),
            Arg::U32(mask(3)),
            Arg::U64(limit as u64),
            Arg::U64((limit >> 64) as u64),
        ];
        let times = (range.numbers >> range.common).div_ceil(EACH.into()).max(1);
        let warps = u32::try_from(u64::from(count.div_ceil(32)) * times).unwrap_or(u32::MAX);
        let most = self.device.info().multiprocessors.max(1) * self.shape.blocks;
        let blocks = warps.div_ceil(self.shape.threads / 32).min(most);
        let launch = Launch::linear(blocks, self.shape.threads).shared(self.shape.shared_bytes());
        // SAFETY: the tables have the bits of the kernel's shape, `results` has its head and a list
        // of the length that is passed, and all delays that are written fit. Only kernels of groups
        // read the groups.
        unsafe { kernel.launch(launch, &args) }
    }

    fn survey_there(
        &mut self,
        range: &Range,
        limit: u128,
        record: bool,
    ) -> Result<Option<Survey>, CollatzError> {
        self.launch(range, limit)?;
        let head = self.results.download_part(0..HEAD)?;
        let [sum, key, listed, _] = head[..] else {
            return Ok(None);
        };
        if listed > LIST as u64 {
            return Ok(None);
        }
        let offset = (1u64 << OFFSET_BITS) - 1 - (key & ((1 << OFFSET_BITS) - 1));
        let longest =
            DelayRecord { n: range.from + u128::from(offset), delay: (key >> OFFSET_BITS) as u32 };
        let mut survey = Survey { sum: sum.into(), longest, candidates: vec![] };
        let groups = self.groups.as_ref().filter(|_| range.kind == Kind::Merged);
        for entry in self.results.download_part(HEAD..HEAD + listed as usize)? {
            let n = range.from + u128::from(entry & !UNKNOWN);
            // All numbers of its group have its delay and are larger.
            let alone = [n];
            let block = n >> range.common << range.common;
            let members: Vec<u128> = match groups {
                Some((groups, _)) => {
                    let members = groups.of((n - block) as u32);
                    members.iter().map(|&(_, residue)| block + u128::from(residue)).collect()
                }
                None => alone.into(),
            };
            if entry & UNKNOWN != 0 {
                let one = Survey::one(n, exact_delay(n)?);
                survey = survey.and(Survey { sum: one.sum * members.len() as u128, ..one });
            }
            if record {
                survey.candidates.extend(members);
            }
        }
        survey.candidates.sort_unstable();
        Ok(Some(survey))
    }
}

impl Delays for DelaysOnDevice {
    fn place(&self) -> String {
        self.device.info().id.clone()
    }

    fn chunk(&self) -> u64 {
        self.chunk
    }

    fn survey(
        &mut self,
        from: u128,
        numbers: u64,
        record: Option<&BigUint>,
    ) -> Result<Option<Survey>, CollatzError> {
        check_range(from, from.saturating_add(numbers.into()))?;
        if self.is_for_host(from, numbers) {
            return self.host.survey(from, numbers, record);
        }
        let mut whole: Option<Survey> = None;
        let mut done = 0;
        while done < numbers {
            let (first, mut part) = (from + u128::from(done), self.chunk.min(numbers - done));
            let bound = Bound::new(record, first + u128::from(part - 1), &self.steps, &self.small);
            let survey = match bound.common {
                Some(common) if bound.limit >> 32 != 0 => {
                    let range = self.part(first, part, common);
                    part = range.numbers;
                    self.survey_there(&range, bound.limit, record.is_some())?
                }
                // Where no number is cold, each one is examined by itself.
                _ => {
                    part = part.min(self.host.chunk());
                    self.host.survey(first, part, record)?
                }
            };
            let Some(survey) = survey else { return Ok(None) };
            whole = Some(match whole {
                Some(whole) => whole.and(survey),
                None => survey,
            });
            done += part;
        }
        Ok(whole)
    }

    fn fill(&mut self, from: u128, delays: &mut [u32]) -> Result<(), CollatzError> {
        let numbers = delays.len() as u64;
        check_range(from, from.saturating_add(numbers.into()))?;
        if self.is_for_host(from, numbers) {
            return self.host.fill(from, delays);
        }
        let most = self.chunk.min(1 << (MOST_COMMON.min(from.ilog2()) + 12));
        let at_once = WRITTEN.min(most as usize);
        for (i, part) in delays.chunks_mut(at_once).enumerate() {
            let first = from + (i * at_once) as u128;
            let range = self.range(first, part.len() as u64, MOST_COMMON, Kind::Write);
            if self.written.as_ref().is_none_or(|buffer| buffer.len() < part.len()) {
                self.written = None;
                self.written = Some(self.device.alloc(part.len())?);
            }
            self.launch(&range, u128::MAX)?;
            let Some(written) = &self.written else { continue };
            for (j, (delay, found)) in
                part.iter_mut().zip(written.download_part(0..range.numbers as usize)?).enumerate()
            {
                *delay = match found {
                    TOO_LONG => exact_delay(first + j as u128)?,
                    found => found.into(),
                };
            }
        }
        Ok(())
    }
}
