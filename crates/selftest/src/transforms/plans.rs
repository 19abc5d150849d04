//! Tests of transform plans on a device, for all fields: transforms, inverses and convolutions must
//! equal those of the CPU element by element.

use std::error::Error;

use bytemuck::Zeroable;
use warpint_device::{Buffer, Device, DeviceError};
use warpint_transform::Plan;
use warpint_transform::cpu::{NoTransform, Transform, WrongArgument};
use warpint_transform::gpu::layout::{WordField, element_major, from_words, to_words};

/// The reason why a case failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{0}")]
    Plan(String),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    NoTransform(#[from] NoTransform),
    #[error(transparent)]
    WrongArgument(#[from] WrongArgument),
    #[error("word {word} of element {element} of {what} is {found}, not {expected}")]
    Word { what: &'static str, word: usize, element: usize, found: String, expected: String },
    #[error("{0} has words that stand for no element")]
    NoElement(&'static str),
    #[error("there is no root of unity")]
    NoRoot,
}

impl Failure {
    /// Turns an error of a plan into a failure.
    pub(crate) fn plan(error: impl Error) -> Self {
        Self::Plan(error.to_string())
    }
}

/// A plan for transforms over a field on a device.
pub(crate) struct Planned<'a, F, P> {
    pub(crate) device: &'a Device,
    pub(crate) field: &'a F,
    pub(crate) plan: P,
}

impl<F, P> Planned<'_, F, P>
where
    F: WordField + Clone,
    F::Word: std::fmt::Debug,
    P: Plan<Vectors = Buffer<F::Word>>,
{
    /// Uploads vectors of elements into a buffer of the plan's size. The rest of the buffer
    /// contains zeros.
    pub(crate) fn upload(&self, x: &[F::Element]) -> Result<Buffer<F::Word>, Failure> {
        let mut words = to_words(self.field, x);
        words.resize(self.plan.size(), F::Word::zeroed());
        Ok(self.device.upload(&words)?)
    }

    /// Downloads the elements in a buffer. Returns an error if the words of the buffer are not
    /// elements of the field. `what` names the elements in the message.
    pub(crate) fn download(
        &self,
        what: &'static str,
        x: &Buffer<F::Word>,
    ) -> Result<Vec<F::Element>, Failure> {
        from_words(self.field, &x.download()?).ok_or(Failure::NoElement(what))
    }

    /// Tests the transform of x into another buffer, and the inverse transform in place.
    pub(crate) fn transforms(&self, x: &[F::Element]) -> Result<(), Failure> {
        let mut out = self.device.alloc(self.plan.size())?;
        self.plan.forward_into(&self.upload(x)?, &mut out).map_err(Failure::plan)?;
        let mut expected = x.to_vec();
        self.on_cpu()?.forward(&mut expected)?;
        self.compare_spectra(&out, &expected)?;
        self.plan.inverse(&mut out).map_err(Failure::plan)?;
        self.compare("an inverse transform", &out, x)
    }

    /// Tests the cyclic convolution of a and b. Returns the buffer of b, with the contents that the
    /// plan has left in it.
    pub(crate) fn convolution(
        &self,
        mut a: Vec<F::Element>,
        mut b: Vec<F::Element>,
    ) -> Result<Buffer<F::Word>, Failure> {
        let (mut x, mut y) = (self.upload(&a)?, self.upload(&b)?);
        self.plan.convolve(&mut x, &mut y).map_err(Failure::plan)?;
        self.on_cpu()?.cyclic(&mut a, &mut b)?;
        self.compare("a convolution", &x, &a)?;
        Ok(y)
    }

    /// Returns an error if an element in the buffer differs from the expected one. `what` names the
    /// elements in the message.
    pub(crate) fn compare(
        &self,
        what: &'static str,
        found: &Buffer<F::Word>,
        expected: &[F::Element],
    ) -> Result<(), Failure> {
        let places = expected.iter().enumerate();
        self.compare_at(what, found, places)
    }

    fn compare_spectra(
        &self,
        found: &Buffer<F::Word>,
        expected: &[F::Element],
    ) -> Result<(), Failure> {
        let at = |place| self.plan.frequency(place).map(|(vector, i)| (vector, i, place));
        let places = (0..self.plan.size() / self.field.words()).filter_map(at);
        let places =
            places.map(|(vector, i, place)| (place, &expected[vector * self.plan.points() + i]));
        self.compare_at("a transform", found, places)
    }

    fn compare_at<'e>(
        &self,
        what: &'static str,
        found: &Buffer<F::Word>,
        expected: impl Iterator<Item = (usize, &'e F::Element)>,
    ) -> Result<(), Failure>
    where
        F::Element: 'e,
    {
        let each = self.field.words();
        let found = element_major(&found.download()?, each);
        let mut words = vec![];
        for (element, expected) in expected {
            words.clear();
            self.field.extend(&mut words, expected);
            let found = &found[element * each..][..each];
            if let Some(word) = found.iter().zip(&words).position(|(found, word)| found != word) {
                let [found, expected] = [&found[word], &words[word]].map(|x| format!("{x:#x?}"));
                return Err(Failure::Word { what, word, element, found, expected });
            }
        }
        Ok(())
    }

    fn on_cpu(&self) -> Result<Transform<F>, Failure> {
        Ok(Transform::new(self.field.clone(), self.plan.points().ilog2())?)
    }
}
