//! The CUDA context of a device, its only stream, and the errors of its calls.

use std::ptr;
use std::time::{Duration, Instant};

use cudarc::driver::sys::{
    self, CUcontext, CUdevice, CUevent, CUevent_flags, CUresult, CUstream, CUstream_flags,
};

use super::driver::{check, describe};
use crate::DeviceError;

/// The time for which the host polls before it sleeps. It is about the time that falling asleep and
/// waking up take.
const AWAKE: Duration = Duration::from_micros(50);

/// The primary context of a device, and the stream to which all work of a
/// [`Backend`](crate::Backend) is submitted.
#[derive(Debug)]
pub(super) struct Context {
    device: CUdevice,
    context: CUcontext,
    pub(super) stream: CUstream,
    /// The event that [`Self::wait`] records after all submitted work. A thread that waits for this
    /// event sleeps.
    end: CUevent,
}

// SAFETY: the handles are the driver's, which may be called from any thread.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    pub(super) fn new(device: CUdevice) -> Result<Self, DeviceError> {
        let mut context = ptr::null_mut();
        // SAFETY: the device is valid; the call writes one handle.
        let code = unsafe { sys::cuDevicePrimaryCtxRetain(&raw mut context, device) };
        if code == CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            let message = "other programs use its memory; close them, or compute on the CPU";
            return Err(DeviceError::Failed {
                what: "opening the GPU".into(),
                message: message.into(),
            });
        }
        check("cuDevicePrimaryCtxRetain", code)?;
        // From here on, dropping `this` releases the context.
        let mut this = Self { device, context, stream: ptr::null_mut(), end: ptr::null_mut() };
        check("cuCtxSetCurrent", this.bind())?;
        let kind = CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: the context is bound; the call writes one handle.
        check("cuStreamCreate", unsafe { sys::cuStreamCreate(&raw mut this.stream, kind) })?;
        let kind = CUevent_flags::CU_EVENT_BLOCKING_SYNC as u32
            | CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;
        // SAFETY: as above.
        check("cuEventCreate", unsafe { sys::cuEventCreate(&raw mut this.end, kind) })?;
        Ok(this)
    }

    /// Makes the context current on the calling thread. The driver's calls on memory, streams,
    /// events and kernels require this.
    pub(super) fn bind(&self) -> CUresult {
        // SAFETY: the context is retained.
        unsafe { sys::cuCtxSetCurrent(self.context) }
    }

    /// Waits until the stream has done all submitted work: polls for the time [`AWAKE`], then
    /// sleeps. It does not use the driver's call that waits for a stream, because that call keeps a
    /// logical CPU of the host busy.
    ///
    /// Several threads may wait at the same time, with the same event. If another thread records
    /// the event again, this thread waits for more work than requested, never for less.
    pub(super) fn wait(&self) -> CUresult {
        // SAFETY: event and stream are valid.
        let code = unsafe { sys::cuEventRecord(self.end, self.stream) };
        if code != CUresult::CUDA_SUCCESS {
            return code;
        }
        let begin = Instant::now();
        while begin.elapsed() < AWAKE {
            // SAFETY: the event is valid.
            match unsafe { sys::cuEventQuery(self.end) } {
                CUresult::CUDA_ERROR_NOT_READY => std::hint::spin_loop(),
                code => return code,
            }
        }
        // SAFETY: the event is valid.
        unsafe { sys::cuEventSynchronize(self.end) }
    }

    /// Waits until all streams of the context have done all submitted work. The context is that of
    /// every library of this process that uses the device's primary context. The context must be
    /// current.
    pub(super) fn wait_for_all_streams(&self) -> CUresult {
        // SAFETY: the call has no arguments.
        unsafe { sys::cuCtxSynchronize() }
    }

    /// Makes work that is submitted to the stream `after` from now on wait for all work that has
    /// been submitted to the stream `before`. The context must be current.
    ///
    /// # Safety
    /// Both are streams of the context.
    pub(super) unsafe fn order(before: CUstream, after: CUstream) -> Result<(), DeviceError> {
        let done = Event::record(before, CUevent_flags::CU_EVENT_DISABLE_TIMING)?;
        // SAFETY: the event is recorded; the caller's promise. The driver keeps the event until the
        // wait is over.
        check("cuStreamWaitEvent", unsafe { sys::cuStreamWaitEvent(after, done.0, 0) })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.bind() == CUresult::CUDA_SUCCESS {
            if !self.end.is_null() {
                // SAFETY: it is valid, and not used again.
                let _ = unsafe { sys::cuEventDestroy_v2(self.end) };
            }
            if !self.stream.is_null() {
                // SAFETY: it is valid, and not used again.
                let _ = unsafe { sys::cuStreamDestroy_v2(self.stream) };
            }
        }
        // SAFETY: it was retained once.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

/// An event between two pieces of work of a stream.
#[derive(Debug)]
pub(super) struct Event(CUevent);

impl Event {
    /// Records an event after all work submitted to the stream so far. The device's context must be
    /// current.
    pub(super) fn record(stream: CUstream, flags: CUevent_flags) -> Result<Self, DeviceError> {
        let mut event = ptr::null_mut();
        // SAFETY: the call writes one handle.
        check("cuEventCreate", unsafe { sys::cuEventCreate(&raw mut event, flags as u32) })?;
        let event = Self(event);
        // SAFETY: both are valid.
        check("cuEventRecord", unsafe { sys::cuEventRecord(event.0, stream) })?;
        Ok(event)
    }

    /// Returns the time between an earlier event and this event. Both events must have completed.
    pub(super) fn since(&self, earlier: &Self) -> Result<Duration, DeviceError> {
        let mut milliseconds = 0.0;
        // SAFETY: both are valid; the call writes one float.
        check("cuEventElapsedTime", unsafe {
            sys::cuEventElapsedTime(&raw mut milliseconds, earlier.0, self.0)
        })?;
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).unwrap_or_default())
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the event is valid and not used again; the driver keeps it as long as it needs it.
        let _ = unsafe { sys::cuEventDestroy_v2(self.0) };
    }
}

/// Returns whether a result code means that a kernel failed. Any call after the kernel's launch may
/// return such a code.
pub(super) fn is_fault(code: CUresult) -> bool {
    use CUresult as E;
    matches!(
        code,
        E::CUDA_ERROR_ILLEGAL_ADDRESS
            | E::CUDA_ERROR_LAUNCH_TIMEOUT
            | E::CUDA_ERROR_ASSERT
            | E::CUDA_ERROR_HARDWARE_STACK_ERROR
            | E::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | E::CUDA_ERROR_MISALIGNED_ADDRESS
            | E::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | E::CUDA_ERROR_INVALID_PC
            | E::CUDA_ERROR_LAUNCH_FAILED
    )
}

/// Returns the error for a call that failed with a result code. `running` lists the names of the
/// kernels that may be running; the error names them if the code means that a kernel failed.
pub(super) fn error(call: &str, code: CUresult, running: &[&str]) -> DeviceError {
    let message = describe(code);
    if !is_fault(code) || running.is_empty() {
        return DeviceError::Failed { what: call.into(), message };
    }
    let what = match running {
        [kernel] => format!("kernel {kernel}"),
        kernels => format!("one of the kernels {}", kernels.join(", ")),
    };
    DeviceError::Failed { what, message: format!("{message} (reported by {call})") }
}
