//! Chains of launches, instantiated once.

use std::ptr;

use cudarc::driver::sys::{self, CUDA_KERNEL_NODE_PARAMS, CUgraph, CUgraphExec, CUgraphNode};

use super::driver::check;
use super::kernels::{Arguments, Kernels};
use crate::{DeviceError, GraphNode};

/// A graph that can be launched.
#[derive(Debug)]
pub(super) struct Executable {
    pub(super) exec: CUgraphExec,
    /// Its kernels, each once.
    pub(super) kernels: Vec<u64>,
}

impl Executable {
    /// A chain: each launch after the one before it. Needs the device's context.
    pub(super) fn new(nodes: &[GraphNode], kernels: &Kernels) -> Result<Self, DeviceError> {
        let chain = Chain::new(nodes, kernels)?;
        let mut exec = ptr::null_mut();
        // SAFETY: the graph is whole; the call writes one handle.
        let code = unsafe { sys::cuGraphInstantiateWithFlags(&raw mut exec, chain.graph, 0) };
        check(&format!("cuGraphInstantiate of {} launches", nodes.len()), code)?;
        let mut used: Vec<u64> = nodes.iter().map(|node| node.kernel).collect();
        used.sort_unstable();
        used.dedup();
        Ok(Self { exec, kernels: used })
    }

    /// Gives it back. Needs the device's context, and that it does not run.
    pub(super) fn destroy(self) {
        // SAFETY: it is valid, and not used again.
        let _ = unsafe { sys::cuGraphExecDestroy(self.exec) };
    }
}

/// The description of a graph, needed only until it is instantiated.
struct Chain {
    graph: CUgraph,
}

impl Chain {
    fn new(nodes: &[GraphNode], kernels: &Kernels) -> Result<Self, DeviceError> {
        let mut graph = ptr::null_mut();
        // SAFETY: the call writes one handle.
        check("cuGraphCreate", unsafe { sys::cuGraphCreate(&raw mut graph, 0) })?;
        let chain = Self { graph };
        let mut last: Option<CUgraphNode> = None;
        for node in nodes {
            last = Some(chain.add(node, kernels, last)?);
        }
        Ok(chain)
    }

    /// Adds a launch after another one.
    fn add(
        &self,
        node: &GraphNode,
        kernels: &Kernels,
        after: Option<CUgraphNode>,
    ) -> Result<CUgraphNode, DeviceError> {
        let GraphNode { kernel, shape, args } = node;
        let kernel = kernels.get(*kernel)?;
        kernel.check(*shape, args)?;
        let mut arguments = Arguments::new(args);
        let mut pointers = arguments.pointers();
        let params = CUDA_KERNEL_NODE_PARAMS {
            func: kernel.function,
            gridDimX: shape.grid[0],
            gridDimY: shape.grid[1],
            gridDimZ: shape.grid[2],
            blockDimX: shape.block[0],
            blockDimY: shape.block[1],
            blockDimZ: shape.block[2],
            sharedMemBytes: shape.shared_bytes,
            kernelParams: pointers.as_mut_ptr(),
            extra: ptr::null_mut(),
            // The function is given, which tells the kernel and the context.
            kern: ptr::null_mut(),
            ctx: ptr::null_mut(),
        };
        let mut added = ptr::null_mut();
        let before = after.as_ref().map_or(ptr::null(), ptr::from_ref);
        // SAFETY: the graph and the node before are valid; arguments are copied in the call.
        let code = unsafe {
            sys::cuGraphAddKernelNode_v2(
                &raw mut added,
                self.graph,
                before,
                usize::from(after.is_some()),
                &raw const params,
            )
        };
        check(&format!("cuGraphAddKernelNode: {}", kernel.launch_title(*shape)), code)?;
        Ok(added)
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        // SAFETY: it is valid, and not used again.
        let _ = unsafe { sys::cuGraphDestroy(self.graph) };
    }
}
