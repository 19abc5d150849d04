//! Products of numbers in host memory, computed on a device.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use warpint_device::Device;
use warpint_natural::limbs::{add_assign, compare, trim, trimmed};
use warpint_natural::product::{Multiplier, TransformMultiplier, Windows};
use warpint_natural::radix::groups::{TEN_19, digits_of_groups, groups_of_digits, limbs_of};

use super::{DeviceProducts, Factor, HugeError, Map, RowCells, Rows, Shape, residue};

/// The least number of limbs of the shorter factor of a product that the device computes. Shorter
/// ones are computed on the CPU: copies to and from the device take longer than they do.
const SHORTER_FROM: usize = 1 << 13;

/// Multiplies numbers in host memory on a device, divides them, and converts them to and from decimal
/// digits. Short products are computed on the CPU. A product that is too long for one transform or for
/// the device's memory is computed in pieces, which several devices share.
///
/// The host verifies each result of the device modulo 2^61 − 1, by residues of the operands and of the
/// result in its own memory, so copies are verified too. If one is wrong, or if the device fails,
/// the result is computed on the CPU, and so are all later ones; [`Self::failure`] returns the reason. The CPU
/// also computes products and divisions with a factor or divisor that is a multiple of 2^61 − 1,
/// because the residues would not tell wrong results from right ones.
pub struct DeviceMultiplier {
    products: Mutex<DeviceProducts>,
    /// Other devices, which compute pieces only.
    others: Vec<Mutex<DeviceProducts>>,
    cpu: TransformMultiplier,
    /// The largest number of bytes of a device's memory that a product may use.
    memory: u64,
    shorter_from: usize,
    failure: Mutex<Option<HugeError>>,
}

impl DeviceMultiplier {
    /// Creates a multiplier for a device, which computes short products on `threads` threads of the
    /// CPU. It uses at most nine tenths of the device's memory that is free now.
    ///
    /// # Errors
    /// The device cannot compile the kernels, or fails.
    pub fn new(device: &Device, threads: usize) -> Result<Self, HugeError> {
        Self::on_devices(device, &[], threads)
    }

    /// Creates a multiplier for several devices. The first computes what it can alone; a product that is
    /// too long for it is computed in pieces by all. Each uses at most nine tenths of the memory that is
    /// free now on the device with the least.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn on_devices(
        first: &Device,
        others: &[Device],
        threads: usize,
    ) -> Result<Self, HugeError> {
        let mut memory = first.memory()?.0;
        for device in others {
            memory = memory.min(device.memory()?.0);
        }
        let others: Result<_, HugeError> =
            others.iter().map(|device| Ok(Mutex::new(DeviceProducts::new(device)?))).collect();
        let one = Self::with_memory(first, threads, memory / 10 * 9)?;
        Ok(Self { others: others?, ..one })
    }

    /// Creates a multiplier that uses at most `memory` bytes of the device's memory.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn with_memory(device: &Device, threads: usize, memory: u64) -> Result<Self, HugeError> {
        Ok(Self {
            products: Mutex::new(DeviceProducts::new(device)?),
            others: vec![],
            cpu: TransformMultiplier::new(threads),
            memory,
            shorter_from: SHORTER_FROM,
            failure: Mutex::new(None),
        })
    }

    /// Creates a multiplier whose device computes all products of factors of `shorter_from` limbs
    /// or more.
    #[cfg(test)]
    pub(super) fn for_tests(device: &Device, memory: u64, shorter_from: usize) -> Self {
        Self { shorter_from, ..Self::with_memory(device, 1, memory).unwrap() }
    }

    /// Shares pieces with other devices.
    #[cfg(test)]
    pub(super) fn with_others(mut self, others: &[Device]) -> Self {
        let products = |device| Mutex::new(DeviceProducts::new(device).unwrap());
        self.others = others.iter().map(products).collect();
        self
    }

    /// Returns why the device computes no products any more; `None` if it does. The caller tells the
    /// user.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        lock(&self.failure).as_ref().map(ToString::to_string)
    }

    /// Returns the identifiers of the devices, such as `cuda:0` or `cuda:0, cuda:1`.
    #[must_use]
    pub fn place(&self) -> String {
        let of = |products: &Mutex<DeviceProducts>| lock(products).device().info().id.clone();
        self.devices().map(of).collect::<Vec<_>>().join(", ")
    }

    fn devices(&self) -> impl Iterator<Item = &Mutex<DeviceProducts>> + Clone {
        [&self.products].into_iter().chain(&self.others)
    }

    /// Returns whether a product fits the limit of memory and one transform.
    fn fits(&self, a: usize, b: usize) -> bool {
        let bytes = |working: u64| working + 16 * (a + b) as u64;
        DeviceProducts::working_bytes(a, b).map(bytes).is_some_and(|bytes| bytes <= self.memory)
    }

    /// Computes a·b, where neither is shorter than `shorter_from`, in pieces if it does not fit.
    ///
    /// Both factors are cut into pieces of equal lengths, of which the longer is halved until a product
    /// of two pieces fits. Two threads work for each device: one computes while the other verifies and
    /// adds.
    fn in_pieces(&self, a: &[u64], b: &[u64]) -> Result<Vec<u64>, HugeError> {
        if self.fits(a.len(), b.len()) {
            return self.on_device(&self.products, a, b);
        }
        let (mut of_a, mut of_b) = (a.len(), b.len());
        while !self.fits(of_a, of_b) {
            let longer = if of_a >= of_b { &mut of_a } else { &mut of_b };
            if *longer < 2 * self.shorter_from {
                return Err(HugeError::TooLong { a: a.len(), b: b.len() });
            }
            *longer = longer.div_ceil(2);
        }
        let places = (0..a.len()).step_by(of_a);
        let places = places.flat_map(|i| (0..b.len()).step_by(of_b).map(move |j| (i, j)));
        let places: Vec<(usize, usize)> = places.collect();
        let product = Mutex::new(vec![0; a.len() + b.len()]);
        let next = AtomicUsize::new(0);
        let work = |device: &Mutex<DeviceProducts>| -> Result<(), HugeError> {
            while let Some(&(i, j)) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
                let x = trimmed(&a[i..a.len().min(i + of_a)]);
                let y = trimmed(&b[j..b.len().min(j + of_b)]);
                let piece = if x.is_empty() || y.is_empty() {
                    continue;
                } else if x.len().min(y.len()) < self.shorter_from {
                    self.cpu.mul(x, y)
                } else {
                    self.on_device(device, x, y).inspect_err(|_| {
                        // The others end after their piece.
                        next.store(places.len(), Ordering::Relaxed);
                    })?
                };
                add_assign(&mut lock(&product)[i + j..], &piece);
            }
            Ok(())
        };
        // The products that wait to be added are part of the working memory.
        let fitting = self.cpu.working_memory(a.len(), b.len()) / (8 * (of_a + of_b)) as u64;
        let workers = self.devices().cycle().take(2 * (1 + self.others.len()));
        let results: Vec<Result<(), HugeError>> = thread::scope(|scope| {
            let workers = workers.take(usize::try_from(fitting).unwrap_or(usize::MAX).max(1));
            let workers: Vec<_> = workers.map(|device| scope.spawn(|| work(device))).collect();
            let joined = workers.into_iter().map(|worker| match worker.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            joined.collect()
        });
        results.into_iter().collect::<Result<(), HugeError>>()?;
        Ok(product.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Computes a·b on a device, and verifies it.
    fn on_device(
        &self,
        device: &Mutex<DeviceProducts>,
        a: &[u64],
        b: &[u64],
    ) -> Result<Vec<u64>, HugeError> {
        let [of_a, of_b] = [a.len(), b.len()];
        let shape = Shape::whole(of_a, of_b, 1).ok_or(HugeError::TooLong { a: of_a, b: of_b })?;
        let is_square = std::ptr::eq(a, b);
        let residue_of_a = residue::of(a);
        let residue_of_b = if is_square { residue_of_a } else { residue::of(b) };
        if residue_of_a == 0 || residue_of_b == 0 {
            return Ok(self.cpu.mul(a, b));
        }
        let product = {
            let mut products = lock(device);
            let device = products.device().clone();
            let working = DeviceProducts::working_bytes(of_a, of_b);
            products.keep_at_most(working.unwrap_or_default());
            let first = device.upload(a)?;
            let second = if is_square { None } else { Some(device.upload(b)?) };
            let mut out = device.alloc(of_a + of_b)?;
            let factors = [&first, second.as_ref().unwrap_or(&first)];
            let factors = factors.map(|x| Factor::rows(Rows::one(x.view(..)), Map::EACH));
            products.multiply(&shape, RowCells::one(out.cells(..)), &[factors])?;
            out.download()?
        };
        if residue::of(&product) == residue::product(residue_of_a, residue_of_b) {
            Ok(product)
        } else {
            Err(HugeError::Wrong { a: of_a, b: of_b })
        }
    }
}

impl DeviceMultiplier {
    /// Computes on the device, unless it was given up. If it fails now, it is given up.
    fn attempt<T>(
        &self,
        work: impl FnOnce(&mut DeviceProducts) -> Result<Option<T>, HugeError>,
    ) -> Option<T> {
        if lock(&self.failure).is_some() {
            return None;
        }
        let mut products = lock(&self.products);
        let result = work(&mut products);
        products.set_working_limit(u64::MAX);
        match result {
            Ok(result) => result,
            // It does not fit, and the device is sound.
            Err(HugeError::Memory { .. } | HugeError::TooLong { .. }) => None,
            Err(e) => {
                *lock(&self.failure) = Some(e);
                None
            }
        }
    }

    /// Returns whether an operation is long enough for the device, and fits the limit of memory.
    fn is_for_device(&self, shorter: usize, bytes: Option<u64>) -> bool {
        shorter >= self.shorter_from && bytes.is_some_and(|bytes| bytes <= self.memory)
    }
}

impl Multiplier for DeviceMultiplier {
    /// Divides on the device, if divisor and quotient are long and the division fits its memory. The
    /// host verifies the result: q·d + r = a modulo 2^61 − 1, and r < d.
    fn div_rem(&self, a: &[u64], d: &[u64]) -> Option<(Vec<u64>, Vec<u64>)> {
        let (a, d) = (trimmed(a), trimmed(d));
        let shorter = a.len().saturating_sub(d.len()).min(d.len());
        let quotient = (a.len() + 1).saturating_sub(d.len());
        let bytes = |bytes: u64| bytes + 8 * (a.len() + quotient + 2 * d.len()) as u64;
        if !self.is_for_device(shorter, DeviceProducts::division_bytes(a.len(), d.len()).map(bytes))
        {
            return None;
        }
        let of_d = residue::of(d);
        if of_d == 0 {
            return None;
        }
        self.attempt(|products| {
            products.keep_at_most(0);
            let device = products.device().clone();
            let divisor = {
                let d = device.upload(d)?;
                products.divisor(d.view(..), quotient)?
            };
            let there = device.upload(a)?;
            let [mut q, mut r] = [device.alloc(quotient)?, device.alloc(d.len())?];
            products.div_rem(q.cells(..), r.cells(..), there.view(..), &divisor)?;
            let [mut q, mut r] = [q.download()?, r.download()?];
            let product = residue::product(residue::of(&q), of_d);
            let is_right = residue::sum(product, residue::of(&r)) == residue::of(a);
            if !is_right || compare(&r, d).is_ge() {
                return Err(HugeError::WrongQuotient { a: a.len(), d: d.len() });
            }
            trim(&mut q);
            trim(&mut r);
            Ok(Some((q, r)))
        })
    }

    /// Converts on the device, if the number is long and fits its memory. The host verifies the digits
    /// modulo 2^61 − 1.
    fn format_decimal(&self, a: &[u64]) -> Option<Vec<u8>> {
        let a = trimmed(a);
        if !self.is_for_device(a.len(), DeviceProducts::decimal_bytes(a.len())) {
            return None;
        }
        self.attempt(|products| {
            products.keep_at_most(0);
            products.set_working_limit(self.memory - DeviceProducts::decimal_fixed_bytes(a.len()));
            let there = products.device().upload(a)?;
            let Some(groups) = products.format_groups(there.view(..))? else { return Ok(None) };
            // The digits of a group above this would be cut off.
            let are_groups = groups.iter().all(|&group| group < TEN_19);
            if !are_groups || residue::of_digits(&groups, TEN_19) != residue::of(a) {
                return Err(HugeError::WrongDigits { words: a.len() });
            }
            Ok(Some(digits_of_groups(&groups)))
        })
    }

    /// Converts on the device, if the number is long and fits its memory. The host verifies the number
    /// modulo 2^61 − 1.
    fn parse_decimal(&self, digits: &[u8]) -> Option<Vec<u64>> {
        let words = limbs_of(digits.len());
        if !self.is_for_device(words, DeviceProducts::decimal_bytes(words)) {
            return None;
        }
        self.attempt(|products| {
            products.keep_at_most(0);
            products.set_working_limit(self.memory - DeviceProducts::decimal_fixed_bytes(words));
            let groups = groups_of_digits(digits);
            let mut number = products.parse_groups(&groups)?.download()?;
            if residue::of_digits(&groups, TEN_19) != residue::of(&number) {
                return Err(HugeError::WrongDigits { words });
            }
            trim(&mut number);
            Ok(Some(number))
        })
    }

    /// On the CPU if a factor is too short for the device, or if it was given up.
    fn windows(&self, windows: &Windows<'_>, rows: &[u64], out: &mut [u64]) {
        let is_short = windows.len.min(windows.factor.len()) < self.shorter_from;
        if is_short || lock(&self.failure).is_some() {
            return self.cpu.windows(windows, rows, out);
        }
        windows.by_products(self, rows, out);
    }

    /// The memory of a product on the CPU, which may have to compute it.
    fn working_memory(&self, a: usize, b: usize) -> u64 {
        self.cpu.working_memory(a, b)
    }

    fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let (first, second) = (trimmed(a), trimmed(b));
        let is_short = first.len().min(second.len()) < self.shorter_from;
        if is_short || lock(&self.failure).is_some() {
            return self.cpu.mul(a, b);
        }
        match self.in_pieces(first, second) {
            Ok(mut product) => {
                product.resize(a.len() + b.len(), 0);
                product
            }
            Err(HugeError::Memory { .. } | HugeError::TooLong { .. }) => self.cpu.mul(a, b),
            Err(e) => {
                *lock(&self.failure) = Some(e);
                self.cpu.mul(a, b)
            }
        }
    }
}

impl fmt::Debug for DeviceMultiplier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceMultiplier")
            .field("products", &self.products)
            .field("memory", &self.memory)
            .finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
