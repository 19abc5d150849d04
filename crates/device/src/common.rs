//! Header files that the kernels of several crates include.

/// The common headers, each as (name, text). Kernels include a header by its name.
pub const HEADERS: &[(&str, &str)] = &[
    ("simt.cuh", include_str!("../kernels/common/simt.cuh")),
    ("fields.cuh", include_str!("../kernels/common/fields.cuh")),
    ("index.cuh", include_str!("../kernels/common/index.cuh")),
    ("ptx.cuh", include_str!("../kernels/common/ptx.cuh")),
    ("wait.cuh", include_str!("../kernels/common/wait.cuh")),
    ("chain.cuh", include_str!("../kernels/common/chain.cuh")),
    ("goldilocks.cuh", include_str!("../kernels/common/goldilocks.cuh")),
    ("f50.cuh", include_str!("../kernels/common/f50.cuh")),
    ("dft.cuh", include_str!("../kernels/common/dft.cuh")),
    ("m31.cuh", include_str!("../kernels/common/m31.cuh")),
    ("complex.cuh", include_str!("../kernels/common/complex.cuh")),
    ("fourier.cuh", include_str!("../kernels/common/fourier.cuh")),
];
