//! The outputs of a calculation.

use std::time::Instant;

use warpint_files::Draft;
use warpint_progress::{StopToken, Watch};

use super::compute::{Computed, Text};
use super::input::Input;
use super::{CalculationRequest, CalculationTimes};
use crate::out::Output;
use crate::{BatchError, Format, Out};

/// The number of bytes that are written between two tests for a request to stop.
const BLOCK: usize = 4 << 20;

/// The number of blocks after which a file is flushed to disk, so that the flush at its end is short.
const BLOCKS_TO_FLUSH: usize = 16;

/// The results that were written.
#[derive(Debug, Clone)]
pub struct Written {
    /// The result and, if it was wanted, the remainder.
    pub files: Vec<WrittenFile>,
    /// The working time of each part of the calculation.
    pub times: CalculationTimes,
}

/// A result that was written.
#[derive(Debug, Clone)]
pub struct WrittenFile {
    /// The name of the output: a path, or `standard output`.
    pub name: String,
    /// The format of the result.
    pub format: Format,
    /// The number of bits of the result; 0 for the number 0.
    pub bits: u64,
    /// The size of the result in bytes.
    pub bytes: u64,
}

/// An output that is being written.
enum Target {
    File(Box<Draft>),
    Stream(Output),
}

impl Computed<'_> {
    /// Writes the results. A file receives its name when all results are complete. Returns `None` if
    /// `stop` requests a stop before; nothing is left behind then.
    ///
    /// # Errors
    /// Returns an error if an output cannot be written, or if a file has come into being since the
    /// outputs were inspected and may not be replaced.
    pub fn write(self, stop: &StopToken) -> Result<Option<Written>, BatchError> {
        let Self { job, results, streams, mut times } = self;
        let begin = Instant::now();
        let (mut targets, mut files) = (vec![], vec![]);
        for ((out, format), (Text { bytes, bits }, stream)) in
            job.outs.iter().zip(results.into_iter().zip(streams))
        {
            let mut target = match (out.file(), stream) {
                (Some(file), _) => Target::File(Box::new(file.begin()?)),
                (None, Some(stream)) => Target::Stream(stream),
                (None, None) => return Err(BatchError::request("an output is not open")),
            };
            for (i, block) in bytes.chunks(BLOCK).enumerate() {
                if stop.is_stopped() {
                    return Ok(None);
                }
                match &mut target {
                    Target::File(draft) => {
                        draft.write(block)?;
                        if (i + 1) % BLOCKS_TO_FLUSH == 0 {
                            draft.sync()?;
                        }
                    }
                    Target::Stream(stream) => stream.write(block)?,
                }
            }
            let bytes = bytes.len() as u64;
            files.push(WrittenFile { name: out.name(), format: *format, bits, bytes });
            targets.push(target);
        }
        if Watch::is_stopped(stop) {
            return Ok(None);
        }
        for target in targets {
            match target {
                Target::File(draft) if job.force => draft.finish()?,
                Target::File(draft) => draft.finish_new()?,
                Target::Stream(stream) => stream.finish()?,
            }
        }
        times.write = begin.elapsed();
        Ok(Some(Written { files, times }))
    }
}

/// Returns the formats of the outputs.
pub(super) fn formats(
    request: &CalculationRequest,
    inputs: &[Input],
    outs: &[Out],
) -> Result<Vec<Format>, BatchError> {
    let mut default = inputs.iter().find(|input| !input.is_number()).map(Input::format);
    let mut formats = vec![];
    for out in outs {
        let named = out.file().and_then(|file| Format::of_name(file.path()));
        let only = request.calculation.format();
        let name = request.calculation.name();
        if let (Some(only), Some(other)) = (only, request.out_format.filter(|&f| Some(f) != only)) {
            return Err(BatchError::Request(format!("{name} writes {only}, not {other}")));
        }
        if let (Some(only), Some(named)) = (only, named.filter(|&named| Some(named) != only)) {
            let line = format!(
                "{name} writes {only}, but the name {} is that of a {named} file: choose another name",
                out.name()
            );
            return Err(BatchError::Request(line));
        }
        let format = only.or(request.out_format).or(named).or(default).unwrap_or(Format::Decimal);
        if format == Format::Npy {
            let line = format!("{}: npy files hold batches: choose dec, hex or raw", out.name());
            return Err(BatchError::Request(line));
        }
        // A remainder has the format of the result unless its name tells another one.
        default = Some(format);
        formats.push(format);
    }
    Ok(formats)
}
