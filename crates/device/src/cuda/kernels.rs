//! The loaded modules and kernels of a device, and the checks and arguments of a launch.

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::ptr;

use cudarc::driver::sys::{self, CUfunction, CUfunction_attribute as A, CUmodule, CUresult};

use super::driver::{check, describe};
use crate::{Arg, DeviceError, DeviceInfo, Launch};

/// A kernel of a loaded module.
#[derive(Debug, Clone)]
pub(super) struct LoadedKernel {
    pub(super) name: String,
    pub(super) function: CUfunction,
    /// The dynamic shared memory that a launch may use, in bytes.
    shared_bytes: u32,
    /// The largest number of threads of a block, by its launch bounds and registers.
    most_threads: u32,
    /// The size of each parameter in bytes; `None` if the driver does not report sizes.
    parameters: Option<Vec<usize>>,
}

/// The loaded modules and kernels of a device. Their ids are indices, counted from 0.
#[derive(Debug, Default)]
pub(super) struct Kernels {
    modules: Vec<(CUmodule, String)>,
    kernels: Vec<LoadedKernel>,
    ids: HashMap<(u64, String), usize>,
}

impl Kernels {
    /// Loads machine code as a module, and returns its id. `title` names the code in an error. The
    /// device's context must be current.
    pub(super) fn add_module(&mut self, cubin: &[u8], title: &str) -> Result<u64, DeviceError> {
        let mut module = ptr::null_mut();
        // SAFETY: the image is a whole CUBIN, which the driver reads by its own headers.
        let code = unsafe { sys::cuModuleLoadData(&raw mut module, cubin.as_ptr().cast()) };
        check(&format!("cuModuleLoadData of {title}"), code)?;
        self.modules.push((module, title.to_owned()));
        Ok(self.modules.len() as u64 - 1)
    }

    /// Finds the kernel `name` of a module, permits its launches to use `shared_bytes` bytes of
    /// dynamic shared memory, and returns its id. The device's context must be current.
    pub(super) fn find(
        &mut self,
        program: u64,
        name: &str,
        shared_bytes: u32,
        info: &DeviceInfo,
        tells_parameters: bool,
    ) -> Result<u64, DeviceError> {
        let id = match self.ids.get(&(program, name.to_owned())) {
            Some(&id) => id,
            None => {
                let kernel = self.load(program, name, tells_parameters)?;
                self.kernels.push(kernel);
                let id = self.kernels.len() - 1;
                self.ids.insert((program, name.to_owned()), id);
                id
            }
        };
        if let Some(kernel) = self.kernels.get_mut(id) {
            kernel.allow(shared_bytes, info)?;
        }
        Ok(id as u64)
    }

    fn load(
        &self,
        program: u64,
        name: &str,
        tells_parameters: bool,
    ) -> Result<LoadedKernel, DeviceError> {
        let module = usize::try_from(program).ok().and_then(|id| self.modules.get(id));
        let (module, title) = module.ok_or_else(|| no_such("program", program))?;
        let mut function = ptr::null_mut();
        let failed = |message| DeviceError::Failed {
            what: format!("finding the kernel {name} in {title}"),
            message,
        };
        let text = CString::new(name).map_err(|_| failed("a zero byte in its name".into()))?;
        // SAFETY: the module is loaded, and the name ends in a zero.
        match unsafe { sys::cuModuleGetFunction(&raw mut function, *module, text.as_ptr()) } {
            CUresult::CUDA_SUCCESS => {}
            code => return Err(failed(describe(code))),
        }
        let parameters = tells_parameters.then(|| parameters(function));
        let most_threads = attribute(function, A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        Ok(LoadedKernel {
            name: name.to_owned(),
            function,
            shared_bytes: 0,
            most_threads,
            parameters,
        })
    }

    pub(super) fn get(&self, kernel: u64) -> Result<&LoadedKernel, DeviceError> {
        let found = usize::try_from(kernel).ok().and_then(|id| self.kernels.get(id));
        found.ok_or_else(|| no_such("kernel", kernel))
    }

    /// Returns the names of the kernels with the given ids, in the order of the ids.
    pub(super) fn names(&self, kernels: &[u64]) -> Vec<&str> {
        kernels.iter().filter_map(|&id| Some(self.get(id).ok()?.name.as_str())).collect()
    }

    /// Unloads all modules. The device's context must be current and no work may be running.
    pub(super) fn unload(&mut self) {
        self.kernels.clear();
        for (module, _) in self.modules.drain(..) {
            // SAFETY: it is loaded, and none of its kernels is left.
            let _ = unsafe { sys::cuModuleUnload(module) };
        }
    }
}

/// Returns the size of each parameter of a kernel, in bytes, in the order of the parameters.
fn parameters(function: CUfunction) -> Vec<usize> {
    let size = |index| {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: the function is loaded, and the driver has this call.
        let code =
            unsafe { sys::cuFuncGetParamInfo(function, index, &raw mut offset, &raw mut size) };
        (code == CUresult::CUDA_SUCCESS).then_some(size)
    };
    (0..).map_while(size).collect()
}

/// Returns an attribute of a kernel.
fn attribute(function: CUfunction, attribute: A) -> Result<u32, DeviceError> {
    let mut value = 0;
    // SAFETY: the function is loaded; the call writes one int.
    check("cuFuncGetAttribute", unsafe {
        sys::cuFuncGetAttribute(&raw mut value, attribute, function)
    })?;
    Ok(u32::try_from(value).unwrap_or(0))
}

impl LoadedKernel {
    /// Raises the limit of the kernel's dynamic shared memory to at least `bytes`. Returns an error
    /// if a block cannot have this much shared memory.
    fn allow(&mut self, bytes: u32, info: &DeviceInfo) -> Result<(), DeviceError> {
        if bytes <= self.shared_bytes {
            return Ok(());
        }
        let fixed = attribute(self.function, A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        too_much_shared(&self.name, bytes, fixed, info)?;
        let value = i32::try_from(bytes).unwrap_or(i32::MAX);
        // SAFETY: the function is loaded.
        check(&format!("allowing {} {bytes} bytes of shared memory", self.name), unsafe {
            sys::cuFuncSetAttribute(
                self.function,
                A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                value,
            )
        })?;
        self.shared_bytes = bytes;
        Ok(())
    }

    /// Returns an error if the launch needs more shared memory than permitted or has more threads a block
    /// than the kernel was compiled for, or if its arguments differ from the kernel's parameters in number
    /// or size. Arguments are not checked if the driver does not report the sizes of parameters.
    pub(super) fn check(&self, shape: Launch, args: &[Arg]) -> Result<(), DeviceError> {
        let wrong = |message| Err(DeviceError::Failed { what: self.launch_title(shape), message });
        if shape.shared_bytes > self.shared_bytes {
            return wrong(format!(
                "the kernel was allowed {} bytes of shared memory",
                self.shared_bytes
            ));
        }
        let threads: u64 = shape.block.iter().map(|&n| u64::from(n)).product();
        if threads > u64::from(self.most_threads) {
            return wrong(format!(
                "the kernel was compiled for blocks of at most {} threads",
                self.most_threads
            ));
        }
        // The driver reads one argument per parameter of the kernel, and would read beyond our list if
        // it were shorter.
        if let Some(parameters) = &self.parameters {
            let given: Vec<usize> = args.iter().map(|&arg| Word::new(arg).bytes).collect();
            if given != *parameters {
                return wrong(format!(
                    "its parameters have {parameters:?} bytes, its arguments {given:?}"
                ));
            }
        }
        Ok(())
    }

    /// Returns the kernel's name and the shape of a launch, for messages.
    pub(super) fn launch_title(&self, shape: Launch) -> String {
        let Launch { grid: [gx, gy, gz], block: [bx, by, bz], shared_bytes } = shape;
        format!(
            "launch of kernel {} with {gx}×{gy}×{gz} blocks of {bx}×{by}×{bz} threads and \
             {shared_bytes} bytes of shared memory",
            self.name
        )
    }
}

fn too_much_shared(
    name: &str,
    bytes: u32,
    fixed: u32,
    info: &DeviceInfo,
) -> Result<(), DeviceError> {
    let most = info.shared_memory_per_block;
    if bytes.checked_add(fixed).is_some_and(|all| all <= most) {
        return Ok(());
    }
    Err(DeviceError::Failed {
        what: format!("allowing the kernel {name} {bytes} bytes of shared memory"),
        message: format!(
            "a block has at most {most} bytes on {} ({}), and the kernel uses {fixed} of them itself",
            info.id, info.name
        ),
    })
}

fn no_such(what: &str, id: u64) -> DeviceError {
    DeviceError::Failed { what: format!("{what} {id}"), message: "it is not of this device".into() }
}

/// An argument in the form that the driver reads: the first `bytes` bytes of the word `bits`.
struct Word {
    bits: u64,
    bytes: usize,
}

impl Word {
    fn new(arg: Arg) -> Self {
        // CUDA's hosts are little-endian: a 32-bit value is the first half of the word.
        let (bits, bytes) = match arg {
            Arg::Pointer(pointer) => (pointer.address(), 8),
            Arg::U64(value) => (value, 8),
            Arg::U32(value) => (value.into(), 4),
            Arg::I32(value) => (value.cast_unsigned().into(), 4),
            Arg::I64(value) => (value.cast_unsigned(), 8),
            Arg::F64(value) => (value.to_bits(), 8),
        };
        Self { bits, bytes }
    }
}

/// Arguments in the form that the driver expects: an array of pointers to values.
pub(super) struct Arguments {
    values: Vec<u64>,
}

impl Arguments {
    pub(super) fn new(args: &[Arg]) -> Self {
        Self { values: args.iter().map(|&arg| Word::new(arg).bits.to_le()).collect() }
    }

    /// Returns a pointer to each argument. The pointers are valid until `self` is moved or dropped.
    pub(super) fn pointers(&mut self) -> Vec<*mut c_void> {
        self.values.iter_mut().map(|value| (&raw mut *value).cast()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pointer;

    fn kernel() -> LoadedKernel {
        LoadedKernel {
            name: "rows".into(),
            function: ptr::null_mut(),
            shared_bytes: 49_152,
            most_threads: 128,
            parameters: Some(vec![8, 4]),
        }
    }

    #[test]
    fn arguments_are_the_bytes_of_their_values() {
        let args = [
            Arg::Pointer(Pointer::anywhere(0x1234_5678_9ABC)),
            Arg::U32(7),
            Arg::I32(-2),
            Arg::U64(u64::MAX),
            Arg::I64(-3),
            Arg::F64(-0.5),
        ];
        let mut arguments = Arguments::new(&args);
        let pointers = arguments.pointers();
        assert_eq!(pointers.len(), 6);
        // SAFETY: each points to eight bytes that are alive and aligned to eight.
        unsafe {
            assert_eq!(*pointers[0].cast::<u64>(), 0x1234_5678_9ABC);
            assert_eq!(*pointers[1].cast::<u32>(), 7);
            assert_eq!(*pointers[2].cast::<i32>(), -2);
            assert_eq!(*pointers[3].cast::<u64>(), u64::MAX);
            assert_eq!(*pointers[4].cast::<i64>(), -3);
            assert_eq!(*pointers[5].cast::<f64>(), -0.5);
        }
    }

    #[test]
    fn a_launch_that_does_not_match_its_kernel_is_refused() {
        let shape = Launch::linear(2, 32);
        let kernel = kernel();
        assert_eq!(kernel.check(shape, &[Arg::NULL, Arg::I32(1)]), Ok(()));
        let one_line = |e: DeviceError| {
            let text = e.to_string();
            assert_eq!(text.lines().count(), 1);
            text
        };
        for args in [&[Arg::NULL][..], &[Arg::U32(0), Arg::U32(0)], &[Arg::U64(0); 3]] {
            let text = one_line(kernel.check(shape, args).unwrap_err());
            assert!(text.contains("its parameters have [8, 4] bytes"), "{text}");
        }
        let args = [Arg::U64(0), Arg::U32(0)];
        let text = one_line(kernel.check(shape.shared(49_153), &args).unwrap_err());
        assert_eq!(
            text,
            "launch of kernel rows with 2×1×1 blocks of 32×1×1 threads and 49153 bytes of shared \
             memory failed: the kernel was allowed 49152 bytes of shared memory"
        );
        let text = one_line(kernel.check(Launch::linear(2, 129), &args).unwrap_err());
        assert!(
            text.ends_with("failed: the kernel was compiled for blocks of at most 128 threads")
        );
    }

    #[test]
    fn shared_memory_has_a_limit() {
        assert_eq!(too_much_shared("rows", 232_448, 0, &DeviceInfo::h200()), Ok(()));
        for (bytes, fixed) in [(232_449, 0), (232_448, 1), (u32::MAX, u32::MAX)] {
            let text =
                too_much_shared("rows", bytes, fixed, &DeviceInfo::h200()).unwrap_err().to_string();
            assert!(text.contains("at most 232448 bytes on cuda:0 (NVIDIA H200)"), "{text}");
        }
    }

    #[test]
    fn ids_of_another_device_are_refused() {
        let mut kernels = Kernels::default();
        assert!(kernels.get(0).is_err());
        assert!(kernels.find(0, "rows", 0, &DeviceInfo::h200(), false).is_err());
    }
}
