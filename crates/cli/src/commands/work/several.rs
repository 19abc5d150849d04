//! Several workers on one directory: each a process of its own.
//!
//! A worker is `warpint work DIR --worker N --device …`, as a person would start it. A process
//! that crashes, as by a fault of the driver, so leaves the others alone.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Context;
use warpint::mersenne::DeviceChoice;

use crate::args::{Places, WorkArgs};
use crate::exit::{BadRequest, Exit};
use crate::report;
use crate::signals::{self, Signals};

/// How soon the end of a worker, or a request to stop, is seen.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Numbers of workers are below this.
const MOST: usize = 1000;

/// A worker to be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seat {
    worker: u32,
    device: DeviceChoice,
    threads: Option<usize>,
}

/// Starts `each` workers on each device, and waits for their ends.
pub(super) fn run(args: &WorkArgs, devices: &[DeviceChoice], each: usize) -> anyhow::Result<Exit> {
    let cores = thread::available_parallelism().map_or(1, |n| n.get());
    let seats = seats(devices, each, args.how.threads, cores)?;
    let program = std::env::current_exe().context("cannot find the program's own file")?;
    let signals = Signals::install()?;
    // The workers save; this process has nothing to lose, but waits for them.
    let stop = signals.save_first();
    let mut crew: Vec<Running> = seats
        .iter()
        .map(|seat| {
            let mut command = Command::new(&program);
            command.args(worker_args(args, seat));
            Running::start(seat, &mut command)
        })
        .collect();
    let mut passed_on = false;
    loop {
        if stop.is_stopped() && !passed_on {
            for running in &crew {
                running.pass_on();
            }
            passed_on = true;
        }
        let left = crew.iter_mut().filter_map(Running::look).count();
        if left == 0 {
            break;
        }
        thread::sleep(LOOK_EVERY);
    }
    let ended: Vec<Exit> = crew.into_iter().map(Running::join).collect();
    Ok(exit_of(stop.is_stopped(), &ended))
}

/// Workers 0, 1, …, device by device. Those that compute on the CPU share its cores.
fn seats(
    devices: &[DeviceChoice],
    each: usize,
    threads: Option<usize>,
    cores: usize,
) -> anyhow::Result<Vec<Seat>> {
    let all = devices.len() * each;
    if all > MOST {
        return Err(BadRequest(format!("--workers: {all} workers are more than {MOST}")).into());
    }
    let on_cpu = |device: &DeviceChoice| !matches!(device, DeviceChoice::On(_));
    let sharing = devices.iter().filter(|device| on_cpu(device)).count() * each;
    let seat = |(worker, &device): (usize, &DeviceChoice)| {
        let share = on_cpu(&device).then(|| (cores / sharing.max(1)).max(1));
        Seat { worker: worker as u32, device, threads: threads.or(share) }
    };
    let each_device = devices.iter().flat_map(|device| std::iter::repeat_n(device, each));
    Ok(each_device.enumerate().map(seat).collect())
}

/// The command line of one worker: that of all, with its own number, device and threads.
fn worker_args(args: &WorkArgs, seat: &Seat) -> Vec<OsString> {
    // Without `..`: an option that is added is passed on, or named here.
    let WorkArgs {
        dir,
        add: _,
        worker: _,
        workers: _,
        wait,
        user,
        computer,
        how,
        device: _,
        no_proof,
        proof_power,
        checkpoint_interval,
        quiet,
        json,
    } = args;
    let mut line: Vec<OsString> = vec!["work".into()];
    let mut give = |name: &str, value: &str| line.push(format!("--{name}={value}").into());
    give("worker", &seat.worker.to_string());
    give("device", &Places::One(seat.device).to_string());
    if let Some(threads) = seat.threads {
        give("threads", &threads.to_string());
    }
    if let Some(engine) = how.engine.0 {
        give("engine", engine);
    }
    if let Some(user) = user {
        give("user", user);
    }
    if let Some(computer) = computer {
        give("computer", computer);
    }
    if let Some(power) = proof_power {
        give("proof-power", &power.to_string());
    }
    give("checkpoint-interval", &checkpoint_interval.as_secs_f64().to_string());
    for (name, given) in
        [("--wait", wait), ("--no-proof", no_proof), ("--quiet", quiet), ("--json", json)]
    {
        if *given {
            line.push(name.into());
        }
    }
    line.push("--".into());
    line.push(dir.into());
    line
}

/// The exit code of all: the gravest, or that of a request to stop.
fn exit_of(stopped: bool, ended: &[Exit]) -> Exit {
    let gravest = ended.iter().copied().max().unwrap_or(Exit::Done);
    if stopped { Exit::Stopped } else { gravest }
}

/// How a process ended. A crash is a failure, as is an exit code that this program does not have.
fn how(status: ExitStatus) -> Exit {
    let known = [Exit::Done, Exit::Stopped, Exit::BadInput, Exit::Negative];
    match status.code() {
        Some(code) => {
            known.into_iter().find(|exit| i32::from(exit.code()) == code).unwrap_or(Exit::Failed)
        }
        None if signals::is_request(status) => Exit::Stopped,
        None => Exit::Failed,
    }
}

/// A worker that was started.
struct Running {
    /// `worker 1 (cuda:1)`.
    name: String,
    child: Option<Child>,
    /// They pass on what it writes.
    readers: Vec<JoinHandle<()>>,
    ended: Exit,
}

impl Running {
    /// One that cannot be started has ended, and that is told.
    fn start(seat: &Seat, command: &mut Command) -> Self {
        let name = format!("worker {} ({})", seat.worker, seat.device);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = Self { name, child: None, readers: vec![], ended: Exit::Failed };
        match command.spawn() {
            Ok(mut child) => {
                let name = running.name.clone();
                let out = child.stdout.take().map(|out| pass(out, results()));
                let err = child.stderr.take().map(|err| {
                    pass(err, move |line| report::notice(&format!("{name}: {}", line.trim_end())))
                });
                running.readers = out.into_iter().chain(err).collect();
                running.child = Some(child);
            }
            Err(e) => running.tell(&format!("cannot be started: {e}")),
        }
        running
    }

    fn tell(&self, what: &str) {
        report::notice(&format!("error: {} {what}; the others go on", self.name));
    }

    /// Sees whether it has ended; `Some` while it has not.
    fn look(&mut self) -> Option<()> {
        let status = match self.child.as_mut()?.try_wait() {
            Ok(None) => return Some(()),
            Ok(Some(status)) => status,
            Err(e) => {
                self.tell(&format!("cannot be waited for: {e}"));
                self.child = None;
                return None;
            }
        };
        self.child = None;
        self.ended = how(status);
        match (self.ended, status.code()) {
            (Exit::Done | Exit::Stopped, _) => {}
            (_, Some(code)) => self.tell(&format!("ended with exit code {code}")),
            (_, None) => self.tell(&format!("ended by {status}")),
        }
        None
    }

    /// Passes the request to stop on. A Ctrl-C on a terminal has reached the worker already: both
    /// are one request to it.
    fn pass_on(&self) {
        #[cfg(unix)]
        if let (Some(child), Some(signal)) = (&self.child, signals::asked_by()) {
            // It is not waited for yet: the number is its own still.
            let _ = rustix::process::kill_process(rustix::process::Pid::from_child(child), signal);
        }
    }

    fn join(self) -> Exit {
        for reader in self.readers {
            // A reader that failed has no part in the end.
            let _ = reader.join();
        }
        self.ended
    }
}

/// Results go out as they come, line by line. Where they cannot, that is told once: they are in
/// the files too.
fn results() -> impl FnMut(&str) + Send + 'static {
    let mut failed = false;
    move |line| {
        if let (Err(e), false) = (report::write_out(line.as_bytes()), failed) {
            report::notice(&format!("warning: {e}"));
            failed = true;
        }
    }
}

/// Hands over each line, with its end, until there is no more.
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
    use crate::args::{Cli, Command as Asked};
    use clap::Parser;
    use warpint::mersenne::DeviceId;

    fn parse(line: &[&str]) -> WorkArgs {
        let line = ["warpint", "work"].iter().chain(line);
        match Cli::try_parse_from(line).unwrap().command {
            Asked::Work(args) => args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_worker_gets_the_options_of_all_and_its_own() {
        let seat =
            Seat { worker: 2, device: DeviceChoice::On(DeviceId::Cuda(1)), threads: Some(3) };
        for (all, own) in [
            (
                vec!["--", "-x/y"],
                vec!["--worker=2", "--device=cuda:1", "--threads=3", "--", "-x/y"],
            ),
            (
                vec![
                    "--device=all",
                    "--workers=2",
                    "--wait",
                    "--engine=fp64",
                    "--user=a b",
                    "--computer=-c",
                    "--no-proof",
                    "--checkpoint-interval=0.1",
                    "-q",
                    "--json",
                ],
                vec![
                    "--worker=2",
                    "--device=cuda:1",
                    "--threads=3",
                    "--wait",
                    "--engine=fp64",
                    "--user=a b",
                    "--computer=-c",
                    "--no-proof",
                    "--checkpoint-interval=0.1",
                    "-q",
                    "--json",
                ],
            ),
            (
                vec!["--threads=9", "--proof-power=9"],
                vec!["--worker=2", "--device=cuda:1", "--threads=3", "--proof-power=9"],
            ),
        ] {
            let given = worker_args(&parse(&all), &seat);
            let program = std::iter::once(OsString::from("warpint"));
            let Asked::Work(found) = Cli::try_parse_from(program.chain(given)).unwrap().command
            else {
                panic!()
            };
            assert_eq!(format!("{found:?}"), format!("{:?}", parse(&own)));
        }
    }

    #[test]
    fn seats_are_numbered_device_by_device_and_share_the_cpu() {
        let gpus = [0, 1].map(|i| DeviceChoice::On(DeviceId::Cuda(i)));
        let found = |devices: &[DeviceChoice], each, threads| -> Vec<_> {
            let seats = seats(devices, each, threads, 8).unwrap();
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
        assert!(seats(&gpus, 501, None, 8).is_err());
    }

    #[test]
    fn the_gravest_exit_code_stands_for_all() {
        use Exit::{BadInput, Done, Failed, Stopped};
        assert_eq!(exit_of(false, &[Done, Done]), Done);
        assert_eq!(exit_of(false, &[Done, Stopped]), Stopped);
        assert_eq!(exit_of(false, &[BadInput, Done]), BadInput);
        assert_eq!(exit_of(false, &[BadInput, Failed, Stopped]), Failed);
        assert_eq!(exit_of(true, &[Done, Failed]), Stopped);
    }

    #[cfg(unix)]
    #[test]
    fn one_that_fails_or_crashes_leaves_the_others_alone() {
        let seat = |worker| Seat { worker, device: DeviceChoice::Cpu, threads: None };
        let shell = |worker, script: &str| {
            Running::start(&seat(worker), Command::new("sh").args(["-c", script]))
        };
        let mut crew = [
            Running::start(&seat(0), &mut Command::new("/no/such/program")),
            shell(1, "kill -SEGV $$"),
            shell(2, "exit 2"),
            shell(3, "sleep 0.5; exit 0"),
            shell(4, "kill -TERM $$"),
        ];
        let mut looks = 0;
        while crew.iter_mut().filter_map(Running::look).count() > 0 {
            thread::sleep(LOOK_EVERY);
            looks += 1;
            assert!(looks < 1200);
        }
        use Exit::{BadInput, Done, Failed, Stopped};
        let expected = [Failed, Failed, BadInput, Done, Stopped];
        assert_eq!(crew.map(Running::join), expected);
    }
}
