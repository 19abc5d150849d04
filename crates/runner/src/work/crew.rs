//! Several workers in one directory, each as a process of its own.
//!
//! If one process crashes, for example in the driver of its GPU, the other workers continue.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use warpint_mersenne::{DeviceChoice, StopToken};

use crate::RunError;
use crate::observer::{Observer, RunEvent};
use crate::warning::Warning;

/// The interval at which the crew checks for stop requests and for workers that have ended.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// The largest number of workers in a directory. Worker numbers are less than this.
pub const MOST_WORKERS: usize = 1000;

/// The number, device and threads of a process to be started, which is one worker or a
/// [`Team`](super::Team).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seat {
    /// The number of the worker, or of the first worker of the team.
    pub worker: u32,
    /// The number of workers of the team; 1 for a single worker.
    pub together: u32,
    /// The device, or the CPU, on which the worker computes.
    pub device: DeviceChoice,
    /// The number of threads of each worker on the CPU; `None` selects all.
    pub threads: Option<usize>,
}

/// Workers to be started as processes. Each is started by a command that runs a
/// [`Worker`](super::Worker).
#[derive(Debug)]
pub struct Crew {
    /// The workers, each with the command that starts it.
    pub commands: Vec<(Seat, Command)>,
    /// A function that returns whether a process ended as expected. If the function returns false,
    /// a warning is sent to the observer.
    pub is_orderly: fn(ExitStatus) -> bool,
    /// A function that asks a process to stop. Ctrl-C on a terminal sends a stop request to the
    /// process directly. The process must treat that request and a request by this function as one.
    pub ask: fn(&Child),
}

impl Crew {
    /// Starts the workers, and waits until all have ended. Sends their output to the observer line
    /// by line. If `stop` is set, asks the workers to stop. Returns the exit status of each worker,
    /// in the order of [`Crew::commands`]; `None` for a worker that could not be started or waited
    /// for.
    #[must_use]
    pub fn run(self, observer: &Arc<dyn Observer>, stop: &StopToken) -> Vec<Option<ExitStatus>> {
        // The workers save their work; this process loses nothing, but waits for them.
        observer.event(&RunEvent::Saves(true));
        let Self { commands, is_orderly, ask } = self;
        let start = |(seat, mut command): (Seat, Command)| {
            Running::start(seat, &mut command, is_orderly, observer)
        };
        let mut crew: Vec<Running> = commands.into_iter().map(start).collect();
        let mut passed_on = false;
        loop {
            if stop.is_stopped() && !passed_on {
                // No process has been waited for yet, so that the process ids are still theirs.
                crew.iter().filter_map(|running| running.child.as_ref()).for_each(ask);
                passed_on = true;
            }
            let left = crew.iter_mut().filter_map(Running::look).count();
            if left == 0 {
                break;
            }
            thread::sleep(LOOK_EVERY);
        }
        crew.into_iter().map(Running::join).collect()
    }
}

/// Returns the processes to be started: `each` processes of `together` workers on every device. The workers are
/// numbered 0, 1, … process by process and device by device. `threads` is the number of threads of each
/// worker. If it is `None`, workers on the CPU, and workers of teams on devices, divide the `cores` cores of the
/// CPU among themselves ([`share_of`]).
///
/// # Errors
/// Returns [`RunError::TooManyWorkers`].
pub fn seats(
    devices: &[DeviceChoice],
    each: usize,
    together: u32,
    threads: Option<usize>,
    cores: usize,
) -> Result<Vec<Seat>, RunError> {
    let workers = devices.len() * each * together as usize;
    if workers > MOST_WORKERS {
        return Err(RunError::TooManyWorkers { workers });
    }
    let shares = |device: &DeviceChoice| !matches!(device, DeviceChoice::On(_)) || together > 1;
    let sharing = devices.iter().filter(|device| shares(device)).count() * each * together as usize;
    let seat = |(process, &device): (usize, &DeviceChoice)| {
        let share = shares(&device).then(|| share_of(cores, sharing));
        let worker = process as u32 * together;
        Seat { worker, together, device, threads: threads.or(share) }
    };
    let each_device = devices.iter().flat_map(|device| std::iter::repeat_n(device, each));
    Ok(each_device.enumerate().map(seat).collect())
}

/// Returns the number of threads of each of `workers` workers that share `cores` cores: at least one.
#[must_use]
pub fn share_of(cores: usize, workers: usize) -> usize {
    (cores / workers.max(1)).max(1)
}

/// The process of a worker that was started.
struct Running {
    /// The worker's name, such as `worker 1 (cuda:1)` or `workers 8 to 15 (cuda:0)`.
    name: String,
    child: Option<Child>,
    /// The threads that pass on the worker's output.
    readers: Vec<JoinHandle<()>>,
    ended: Option<ExitStatus>,
    is_orderly: fn(ExitStatus) -> bool,
    observer: Arc<dyn Observer>,
}

impl Running {
    /// Starts a worker. If it cannot be started, it counts as ended, and a warning is sent to the
    /// observer.
    fn start(
        seat: Seat,
        command: &mut Command,
        is_orderly: fn(ExitStatus) -> bool,
        observer: &Arc<dyn Observer>,
    ) -> Self {
        let name = match seat.worker + seat.together.max(1) - 1 {
            last if last == seat.worker => format!("worker {last} ({})", seat.device),
            last => format!("workers {} to {last} ({})", seat.worker, seat.device),
        };
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let observer = Arc::clone(observer);
        let mut running =
            Self { name, child: None, readers: vec![], ended: None, is_orderly, observer };
        match command.spawn() {
            Ok(mut child) => {
                running.readers = running.readers_of(&mut child);
                running.child = Some(child);
            }
            Err(e) => running.tell(format!("cannot be started: {e}")),
        }
        running
    }

    fn readers_of(&self, child: &mut Child) -> Vec<JoinHandle<()>> {
        let out = child.stdout.take().map(|out| {
            let observer = Arc::clone(&self.observer);
            pass(out, move |line| observer.event(&RunEvent::WorkerOutput { line }))
        });
        let err = child.stderr.take().map(|err| {
            let (observer, worker) = (Arc::clone(&self.observer), self.name.clone());
            pass(err, move |line| {
                let line = line.trim_end();
                observer.event(&RunEvent::WorkerMessage { worker: &worker, line });
            })
        });
        out.into_iter().chain(err).collect()
    }

    fn tell(&self, how: String) {
        let warning = Warning::WorkerFailed { worker: self.name.clone(), how };
        self.observer.event(&RunEvent::Warning(&warning));
    }

    /// Checks whether the process has ended. Returns `Some` while the process runs, and `None`
    /// afterwards.
    fn look(&mut self) -> Option<()> {
        let status = match self.child.as_mut()?.try_wait() {
            Ok(None) => return Some(()),
            Ok(Some(status)) => status,
            Err(e) => {
                self.tell(format!("cannot be waited for: {e}"));
                self.child = None;
                return None;
            }
        };
        self.child = None;
        self.ended = Some(status);
        match status.code() {
            _ if (self.is_orderly)(status) => {}
            Some(code) => self.tell(format!("ended with exit code {code}")),
            None => self.tell(format!("ended by {status}")),
        }
        None
    }

    fn join(self) -> Option<ExitStatus> {
        for reader in self.readers {
            // A reader that panicked does not affect the worker's end.
            let _ = reader.join();
        }
        self.ended
    }
}

/// Starts a thread that calls `to` with each line of `from`, including the line ending, until the
/// output ends. Returns the thread.
fn pass(
    from: impl Read + Send + 'static,
    mut to: impl FnMut(&str) + Send + 'static,
) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        while from.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            to(&String::from_utf8_lossy(&line));
            line.clear();
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint_mersenne::DeviceId;

    #[test]
    fn seats_are_numbered_device_by_device_and_share_the_cpu() {
        let gpus = [0, 1].map(|i| DeviceChoice::On(DeviceId::Cuda(i)));
        let found = |devices: &[DeviceChoice], each, threads| -> Vec<_> {
            let seats = seats(devices, each, 1, threads, 8).unwrap();
            seats.iter().map(|s| (s.worker, s.device.to_string(), s.threads)).collect()
        };
        let seat = |n, device: &str, threads| (n, device.to_owned(), threads);
        assert_eq!(found(&gpus, 1, None), [seat(0, "cuda:0", None), seat(1, "cuda:1", None)]);
        let twice = ["cuda:0", "cuda:0", "cuda:1", "cuda:1"];
        let expected: Vec<_> =
            (0..).zip(twice).map(|(n, device)| seat(n, device, Some(2))).collect();
        assert_eq!(found(&gpus, 2, Some(2)), expected);
        let on_cpu = found(&[DeviceChoice::Cpu], 3, None);
        assert_eq!(on_cpu, [0, 1, 2].map(|n| seat(n, "cpu", Some(2))));
        assert_eq!(found(&[DeviceChoice::Auto], 20, None)[19], seat(19, "auto", Some(1)));
        assert!(seats(&gpus, 501, 1, None, 8).is_err());
    }

    #[test]
    fn teams_have_consecutive_numbers_and_share_the_cpu_on_devices_too() {
        let gpus = [0, 1].map(|i| DeviceChoice::On(DeviceId::Cuda(i)));
        let found = seats(&gpus, 2, 16, None, 128).unwrap();
        let numbers: Vec<_> = found.iter().map(|seat| (seat.worker, seat.together)).collect();
        assert_eq!(numbers, [(0, 16), (16, 16), (32, 16), (48, 16)]);
        assert!(found.iter().all(|seat| seat.threads == Some(2)));
        assert_eq!(seats(&[DeviceChoice::Cpu], 1, 64, None, 8).unwrap()[0].threads, Some(1));
        assert!(seats(&gpus, 16, 32, None, 8).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn what_workers_write_is_passed_on_and_a_failure_is_told() {
        use std::sync::Mutex;

        use crate::observer::Undelivered;
        use crate::report::Report;
        use crate::work::Tally;

        #[derive(Default)]
        struct Heard(Mutex<Vec<String>>);
        impl Observer for Heard {
            fn event(&self, event: &RunEvent<'_>) {
                let line = match event {
                    RunEvent::Warning(warning) => warning.to_string(),
                    RunEvent::WorkerOutput { line } => format!("out {line}"),
                    RunEvent::WorkerMessage { worker, line } => format!("{worker}: {line}"),
                    _ => return,
                };
                self.0.lock().unwrap().push(line);
            }
            fn result(&self, _: &Report) -> Result<(), Undelivered> {
                Ok(())
            }
            fn no_work_left(&self, _: &Tally) -> Result<(), Undelivered> {
                Ok(())
            }
        }
        let seat = |worker| Seat { worker, together: 1, device: DeviceChoice::Cpu, threads: None };
        let shell = |worker, script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            (seat(worker), command)
        };
        let heard = Arc::new(Heard::default());
        let observer: Arc<dyn Observer> = heard.clone();
        let crew = Crew {
            commands: vec![
                (seat(0), Command::new("/no/such/program")),
                shell(1, "echo said >&2; exit 2"),
                shell(2, "echo done"),
            ],
            is_orderly: |status| status.success(),
            ask: |_| {},
        };
        let ended = crew.run(&observer, &StopToken::new());
        let codes: Vec<_> =
            ended.iter().map(|ended| ended.and_then(|status| status.code())).collect();
        assert_eq!(codes, [None, Some(2), Some(0)]);
        let mut heard = heard.0.lock().unwrap().clone();
        heard.sort();
        assert!(heard[0].starts_with("error: worker 0 (cpu) cannot be started: "), "{heard:?}");
        let rest = [
            "error: worker 1 (cpu) ended with exit code 2; the others go on",
            "out done\n",
            "worker 1 (cpu): said",
        ];
        assert_eq!(heard[1..], rest);
    }
}
