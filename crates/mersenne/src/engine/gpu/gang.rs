//! Squarings of several numbers in one launch.
//!
//! One number of 10^5 to 10^6 bits does not fill a GPU, and a launch costs the GPU more time than its work
//! takes. Engines of different threads whose kernels are compiled from the same sources form a gang: the
//! squarings that their threads wait for are launched together, each as one row of blocks of a launch.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};

use warpint_device::{
    Arg, Buffer, Capture, Device, DeviceError, DeviceId, Graph, Kernel, Launch, Source, structure,
};

/// The largest number of numbers in a launch.
const MOST: usize = 64;

/// About the number of squarings, of all numbers together, between two reads of the queue.
const SQUARINGS: u64 = 2048;

/// The gangs of a device. Engines with the same kernels and launches are in the same gang.
#[derive(Debug)]
pub(in crate::engine) struct Gangs {
    id: DeviceId,
    open: Mutex<Vec<(Plan, Weak<Gang>)>>,
}

/// The launches of a squaring.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    pub(super) rows: Part,
    pub(super) columns: Part,
    /// The source of the kernel of columns that measures round-off.
    pub(super) measuring: Source,
    /// Whether a launch may begin before the preceding launch has ended.
    pub(super) begins_early: bool,
    /// The squarings in a graph. The first one measures round-off.
    pub(super) squarings: u64,
}

impl Plan {
    /// Returns the sources of the kernels of rows, of columns, and of columns with the measurement of round-off.
    pub(super) fn sources(&self) -> [Source; 3] {
        [&self.rows.source, &self.columns.source, &self.measuring].map(Clone::clone)
    }
}

/// A kernel of a gang and its launch for one number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub(super) source: Source,
    pub(super) launch: Launch,
    /// The number of 64-bit words of the structure of arguments of a number.
    pub(super) words: usize,
}

impl Gangs {
    /// Creates the gangs of a device. The device is opened when the first gang is formed.
    #[must_use]
    pub(in crate::engine) fn new(id: DeviceId) -> Arc<Self> {
        Arc::new(Self { id, open: Mutex::new(vec![]) })
    }

    /// Returns the gang whose launches are those of `plan`, and forms it if there is none.
    pub(super) fn join(&self, plan: Plan) -> Result<Arc<Gang>, DeviceError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(_, gang)| gang.strong_count() > 0);
        let same = open.iter().find(|(of, _)| *of == plan);
        let same = same.and_then(|(_, gang)| gang.upgrade());
        if let Some(gang) = same.filter(|gang| !gang.queue.lock().is_over) {
            return Ok(gang);
        }
        let device = Device::open(&self.id.to_string())?;
        let words = [plan.rows.words, plan.columns.words];
        let gang = Arc::new(Gang::form(Leader::new(device, plan.clone())?, words)?);
        open.push((plan, Arc::downgrade(&gang)));
        Ok(gang)
    }
}

/// A gang. Its launches are made by a thread of its own, which ends when the last engine leaves the gang.
#[derive(Debug)]
pub(super) struct Gang {
    queue: Arc<Queue>,
    /// The numbers of 64-bit words of the structures of arguments.
    words: [usize; 2],
    thread: Option<JoinHandle<()>>,
}

/// The requests of a gang.
#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    requests: Vec<Request>,
    requests_made: u64,
    /// Whether no more requests will come.
    is_left: bool,
    /// Whether the thread that makes the launches has ended.
    is_over: bool,
}

/// A request to square a number.
#[derive(Debug)]
struct Request {
    id: u64,
    /// The arguments of the kernels of rows and of columns.
    arguments: [Vec<u64>; 2],
    /// The graphs that are left to launch.
    left: u64,
    failed: Option<DeviceError>,
}

impl Request {
    fn is_done(&self) -> bool {
        self.left == 0 || self.failed.is_some()
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the queue when the thread that makes the launches ends, for whatever reason.
struct Ending(Arc<Queue>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
    }
}

impl Gang {
    fn form(mut leader: Leader, words: [usize; 2]) -> Result<Self, DeviceError> {
        let queue = Arc::new(Queue::default());
        let ending = Ending(Arc::clone(&queue));
        let work = move || while leader.serve(&ending.0) {};
        let thread = thread::Builder::new().name("gang".into()).spawn(work).map_err(|error| {
            let what = "starting the thread of a gang".into();
            DeviceError::Failed { what, message: error.to_string() }
        })?;
        Ok(Self { queue, words, thread: Some(thread) })
    }

    /// Squares a number: launches `graphs` graphs of squarings, together with those of other numbers, and
    /// waits until the device has done them. `arguments` are those of the kernels of rows and of columns.
    ///
    /// All work of the engine that was submitted before this call must have been done.
    pub(super) fn square(&self, arguments: [Vec<Arg>; 2], graphs: u64) -> Result<(), DeviceError> {
        let arguments = arguments.map(|args| structure(&args));
        if arguments.each_ref().map(Vec::len) != self.words {
            let (what, message) = ("squaring several numbers", "arguments of another kernel");
            return Err(DeviceError::Failed { what: what.into(), message: message.into() });
        }
        let mut state = self.queue.lock();
        let id = state.requests_made;
        state.requests_made += 1;
        state.requests.push(Request { id, arguments, left: graphs, failed: None });
        self.queue.changed.notify_all();
        loop {
            let at = state.requests.iter().position(|request| request.id == id);
            let Some(at) = at.filter(|_| !state.is_over) else {
                let (what, message) = ("squaring several numbers", "their thread ended");
                return Err(DeviceError::Failed { what: what.into(), message: message.into() });
            };
            if state.requests[at].is_done() {
                return state.requests.remove(at).failed.map_or(Ok(()), Err);
            }
            state = self.queue.wait(state);
        }
    }
}

impl Drop for Gang {
    fn drop(&mut self) {
        self.queue.lock().is_left = true;
        self.queue.changed.notify_all();
        // Otherwise the process might end while the thread frees memory of the device. A panic of the thread
        // has been reported by the requests.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// What the thread of a gang needs to make launches. Its device has a stream of its own.
struct Leader {
    device: Device,
    plan: Plan,
    /// The kernels of rows, of columns, and of columns with the measurement of round-off.
    kernels: [Kernel; 3],
    /// The arguments of the kernels of rows and of columns, for each number.
    members: [Buffer<u64>; 2],
    /// The requests whose arguments are in `members`, in their order.
    present: Vec<u64>,
    /// A graph for each number of members, from 1 on.
    graphs: Vec<Option<Graph>>,
}

impl Leader {
    fn new(device: Device, plan: Plan) -> Result<Self, DeviceError> {
        let programs = device.programs(&plan.sources())?;
        let kernel = |at: usize, part: &Part| {
            let missing = || DeviceError::Failed {
                what: part.source.title(),
                message: "the kernel was not built".into(),
            };
            let name = part.source.kernels().first().copied().ok_or_else(missing)?;
            programs.get(at).ok_or_else(missing)?.kernel(name, part.launch.shared_bytes)
        };
        let kernels =
            [kernel(0, &plan.rows)?, kernel(1, &plan.columns)?, kernel(2, &plan.columns)?];
        let room = |part: &Part| device.upload(&vec![0; MOST * part.words]);
        Ok(Self {
            members: [room(&plan.rows)?, room(&plan.columns)?],
            kernels,
            present: vec![],
            graphs: (0..MOST).map(|_| None).collect(),
            device,
            plan,
        })
    }

    /// Waits for requests and makes launches for all of them, as many as the one with the fewest needs, but
    /// not many. Returns false if no more requests will come.
    fn serve(&mut self, queue: &Queue) -> bool {
        let mut state = queue.lock();
        let is_open = |request: &&mut Request| !request.is_done();
        let (ids, graphs) = loop {
            let mut of_next: Vec<&mut Request> =
                state.requests.iter_mut().filter(is_open).take(MOST).collect();
            if let Some(least) = of_next.iter().map(|request| request.left).min() {
                let most = SQUARINGS / self.plan.squarings / of_next.len() as u64;
                let ids: Vec<u64> = of_next.iter().map(|request| request.id).collect();
                let changed = if ids == self.present { Ok(()) } else { self.admit(&of_next) };
                if let Err(error) = changed {
                    of_next.iter_mut().for_each(|of| of.failed = Some(error.clone()));
                    queue.changed.notify_all();
                    continue;
                }
                break (ids, least.min(most.max(1)));
            }
            if state.is_left {
                return false;
            }
            state = queue.wait(state);
        };
        drop(state);
        let made = self.launch(ids.len(), graphs);
        let mut state = queue.lock();
        for request in state.requests.iter_mut().filter(|of| ids.contains(&of.id)) {
            match &made {
                Ok(()) => request.left -= graphs,
                Err(error) => request.failed = Some(error.clone()),
            }
        }
        queue.changed.notify_all();
        true
    }

    /// Makes the numbers of some requests the members of the next launches.
    fn admit(&mut self, requests: &[&mut Request]) -> Result<(), DeviceError> {
        self.present.clear();
        for (kind, buffer) in self.members.iter_mut().enumerate() {
            let arguments: Vec<u64> =
                requests.iter().flat_map(|of| of.arguments[kind].iter().copied()).collect();
            buffer.cells(..arguments.len()).upload(&arguments)?;
        }
        self.present.extend(requests.iter().map(|request| request.id));
        Ok(())
    }

    /// Launches graphs for the first `count` members, and waits for them.
    fn launch(&mut self, count: usize, graphs: u64) -> Result<(), DeviceError> {
        let Self { device, plan, kernels, members, graphs: made, .. } = self;
        let of_count = &mut made[count - 1];
        let graph = match of_count {
            Some(graph) => graph,
            None => of_count.insert(device.capture(|capture| {
                (0..plan.squarings).for_each(|i| record(capture, plan, kernels, members, count, i));
                Ok(())
            })?),
        };
        let launched = (0..graphs).try_for_each(|_| graph.launch());
        // Also after an error: graphs that were launched write the memory of the members.
        let ended = device.synchronize();
        launched.and(ended)
    }
}

/// Records the launches of squaring i of a graph, for the first `count` members.
fn record(
    capture: &Capture<'_>,
    plan: &Plan,
    kernels: &[Kernel; 3],
    members: &[Buffer<u64>; 2],
    count: usize,
    i: u64,
) {
    let columns = if i == 0 { &kernels[2] } else { &kernels[1] };
    let parts = [(&kernels[0], &plan.rows, &members[0]), (columns, &plan.columns, &members[1])];
    for (kernel, part, arguments) in parts {
        let [blocks, ..] = part.launch.grid;
        let launch = Launch { grid: [blocks, count as u32, 1], ..part.launch };
        let args = [Arg::from(arguments)];
        // SAFETY: there are `count` structures of arguments. Each was made from the arguments of a launch of
        // the same kernel for one number, by an engine whose thread waits for the result of its request, so
        // its buffers exist, and belong to the same GPU. The kernels follow the rules of early launches.
        unsafe {
            if plan.begins_early {
                capture.launch_early(kernel, launch, &args);
            } else {
                capture.launch(kernel, launch, &args);
            }
        }
    }
}

#[cfg(test)]
#[cfg(feature = "sim")]
mod tests {
    use super::super::{Machine, Products, Shape as _};
    use super::*;
    use crate::engine::fp64_gpu::form::Form;
    use crate::engine::fp64_gpu::shape::Shape;
    use crate::engine::places::{Families, families_in_gangs, families_in_lane};
    use crate::engine::plain::Plain;
    use crate::engine::{BuildOptions, Engine, EngineError, EngineFamily, Step};
    use crate::layout::{FormLayout, StoredForm};
    use crate::{Number, Residue, Shift};

    /// Squares modulo several numbers at the same time, each in a thread and a lane of its own, and compares the
    /// results with those of engines that make their own launches.
    fn agree(numbers: &[&str], step: Step, length: usize) {
        const SQUARINGS: u64 = 300;
        let squared = |number: Number, families: Families| -> Result<Residue, EngineError> {
            let family = families.into_iter().find(|family| family.name() == "fp64").unwrap();
            let mut engine = family.build_for(number, length, BuildOptions::new(2, 1))?;
            engine.set(0, 3, Shift::ZERO)?;
            // Not all threads make the same requests.
            for part in [SQUARINGS - 70, 70] {
                engine.square(0, part, step, Shift::ZERO)?;
                engine.mul(1, 0, 0)?;
            }
            engine.read(0, Shift::ZERO)
        };
        let numbers: Vec<Number> = numbers.iter().map(|number| number.parse().unwrap()).collect();
        let together: Vec<_> = thread::scope(|scope| {
            let start = |(i, &number): (usize, &Number)| {
                let families = families_in_gangs(DeviceId::Sim, i as u32).unwrap();
                scope.spawn(move || squared(number, families))
            };
            let threads: Vec<_> = numbers.iter().enumerate().map(start).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for (number, found) in numbers.into_iter().zip(together) {
            let alone = families_in_lane(DeviceId::Sim, 0).unwrap();
            assert_eq!(found, squared(number, alone), "{number}");
        }
    }

    #[test]
    fn numbers_squared_together_are_squared_rightly() {
        let plus = ["3*2^13002+1", "5*2^13001+1", "1023*2^12990+1", "7*2^9000+1"];
        agree(&plus, Step::Square, 1024);
        let minus = ["3*2^13002-1", "5*2^13001-1", "1023*2^12990-1"];
        agree(&minus, Step::SquareMinusTwo, 1024);
        agree(&["5*3^8001+1", "7*3^8000+1", "11*10^2500+1"], Step::Square, 1024);
    }

    #[test]
    fn requests_share_launches() {
        const IN_A_GRAPH: u64 = 4;
        for device in Device::simulators() {
            let device = device.unwrap();
            let shape = Shape::best(1024, device.info().shared_memory_per_block).unwrap();
            let mut machines: Vec<_> = ["3*2^13002+1", "5*2^13001+1", "1023*2^12990+1"]
                .into_iter()
                .map(|number| {
                    let layout = || StoredForm::new(FormLayout::new(number.parse().unwrap(), 1024));
                    let products = Products::<Form<_>>::new(
                        &device,
                        layout(),
                        shape,
                        BuildOptions::new(1, 1).into(),
                    );
                    let mut machine =
                        Machine::new(&device, layout(), 1, products.unwrap()).unwrap();
                    machine.set(0, 3, Shift::ZERO).unwrap();
                    machine
                })
                .collect();
            let plan = machines[0].products().plan_of_gang(IN_A_GRAPH);
            assert_eq!(plan, machines[1].products().plan_of_gang(IN_A_GRAPH));
            let mut leader = Leader::new(device.clone(), plan).unwrap();
            let queue = Queue::default();
            let graphs = [1, 3, 2];
            for (id, (machine, left)) in (0..).zip(machines.iter_mut().zip(graphs)) {
                machine.begin(0).unwrap();
                let arguments = machine.products().args_of_gang(Step::Square);
                let arguments = arguments.map(|args| structure(&args));
                queue.lock().requests.push(Request { id, arguments, left, failed: None });
            }
            let steps = [(vec![0, 1, 2], [0, 2, 1]), (vec![1, 2], [0, 1, 0]), (vec![1], [0, 0, 0])];
            for (present, left) in steps {
                assert!(leader.serve(&queue));
                assert_eq!(leader.present, present);
                let found: Vec<u64> = queue.lock().requests.iter().map(|of| of.left).collect();
                assert_eq!(found, left);
            }
            queue.lock().is_left = true;
            assert!(!leader.serve(&queue));
            for (machine, graphs) in machines.iter_mut().zip(graphs) {
                machine.end(0).unwrap();
                let found = machine.read(0, Shift::ZERO).unwrap();
                let number = machine.number();
                let mut expected = Plain.build_for(number, 1, BuildOptions::new(1, 1)).unwrap();
                expected.set(0, 3, Shift::ZERO).unwrap();
                let squarings = IN_A_GRAPH * graphs + 1;
                expected.square(0, squarings, Step::Square, Shift::ZERO).unwrap();
                assert_eq!(found, expected.read(0, Shift::ZERO).unwrap(), "{number}");
            }
        }
    }

    #[test]
    fn requests_end_with_the_thread_of_the_gang() {
        let queue = Arc::new(Queue::default());
        let gang = Gang { queue: Arc::clone(&queue), words: [0, 0], thread: None };
        drop(Ending(queue));
        let error = gang.square([vec![], vec![]], 1).unwrap_err();
        assert_eq!(error.to_string(), "squaring several numbers failed: their thread ended");
    }
}
