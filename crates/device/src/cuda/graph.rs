//! CUDA graphs: chains of launches that the driver prepares once and repeats with one call.

use std::ptr;

use cudarc::driver::sys::{
    self, CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC, CUDA_KERNEL_NODE_PARAMS, CUgraph,
    CUgraphDependencyType, CUgraphEdgeData, CUgraphExec, CUgraphNode,
};

use super::driver::check;
use super::kernels::{Arguments, Kernels};
use crate::{DeviceError, GraphNode};

/// A graph that the driver has instantiated, so that it can be launched.
#[derive(Debug)]
pub(super) struct Executable {
    pub(super) exec: CUgraphExec,
    /// The ids of the graph's kernels, ascending, without duplicates.
    pub(super) kernels: Vec<u64>,
}

impl Executable {
    /// Builds a graph in which each launch follows the preceding launch. If `overlaps` is true, the
    /// device can overlap launches: then a launch with `begins_early` may begin before the
    /// preceding launch has ended. The device's context must be current.
    pub(super) fn new(
        nodes: &[GraphNode],
        kernels: &Kernels,
        overlaps: bool,
    ) -> Result<Self, DeviceError> {
        let chain = Chain::new(nodes, kernels, overlaps)?;
        let mut exec = ptr::null_mut();
        // SAFETY: the graph is whole; the call writes one handle.
        let code = unsafe { sys::cuGraphInstantiateWithFlags(&raw mut exec, chain.graph, 0) };
        check(&format!("cuGraphInstantiate of {} launches", nodes.len()), code)?;
        let mut used: Vec<u64> = nodes.iter().map(|node| node.kernel).collect();
        used.sort_unstable();
        used.dedup();
        Ok(Self { exec, kernels: used })
    }

    /// Frees the graph, which must not be running. The device's context must be current.
    pub(super) fn destroy(self) {
        // SAFETY: it is valid, and not used again.
        let _ = unsafe { sys::cuGraphExecDestroy(self.exec) };
    }
}

/// A graph under construction. It is destroyed after it has been instantiated as an [`Executable`].
struct Chain {
    graph: CUgraph,
}

impl Chain {
    fn new(nodes: &[GraphNode], kernels: &Kernels, overlaps: bool) -> Result<Self, DeviceError> {
        let mut graph = ptr::null_mut();
        // SAFETY: the call writes one handle.
        check("cuGraphCreate", unsafe { sys::cuGraphCreate(&raw mut graph, 0) })?;
        let chain = Self { graph };
        let mut last: Option<CUgraphNode> = None;
        for node in nodes {
            let added = chain.add(node, kernels)?;
            if let Some(before) = last.replace(added) {
                chain.order(before, added, overlaps && node.begins_early)?;
            }
        }
        Ok(chain)
    }

    /// Adds a launch to the graph, with no order relative to other launches. Returns its node.
    fn add(&self, node: &GraphNode, kernels: &Kernels) -> Result<CUgraphNode, DeviceError> {
        let GraphNode { kernel, shape, args, .. } = node;
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
            // The function determines the kernel and the context.
            kern: ptr::null_mut(),
            ctx: ptr::null_mut(),
        };
        let mut added = ptr::null_mut();
        // SAFETY: the graph is valid; arguments are copied in the call.
        let code = unsafe {
            sys::cuGraphAddKernelNode_v2(
                &raw mut added,
                self.graph,
                ptr::null(),
                0,
                &raw const params,
            )
        };
        check(&format!("cuGraphAddKernelNode: {}", kernel.launch_title(*shape)), code)?;
        Ok(added)
    }

    /// Makes the launch `after` wait for the launch `before`. If `early` is false, `after` waits
    /// until `before` has ended. Otherwise it waits until every block of `before` has called
    /// `let_next_launch_begin` or has ended.
    fn order(
        &self,
        before: CUgraphNode,
        after: CUgraphNode,
        early: bool,
    ) -> Result<(), DeviceError> {
        let (from, to) = (&raw const before, &raw const after);
        let code = if early {
            let edge = CUgraphEdgeData {
                from_port: CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC as u8,
                to_port: 0,
                type_: CUgraphDependencyType::CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC as u8,
                reserved: [0; 5],
            };
            // SAFETY: both nodes are of this graph, and the driver is known to have the call.
            unsafe { sys::cuGraphAddDependencies_v2(self.graph, from, to, &raw const edge, 1) }
        } else {
            // SAFETY: both nodes are of this graph.
            unsafe { sys::cuGraphAddDependencies(self.graph, from, to, 1) }
        };
        check("cuGraphAddDependencies", code)
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        // SAFETY: it is valid, and not used again.
        let _ = unsafe { sys::cuGraphDestroy(self.graph) };
    }
}
