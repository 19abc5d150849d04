//! Several processes in one directory, each of which is one worker or, with `--together`, several.
//!
//! Each process is started by the command `warpint --no-config work DIR --worker N --device …`, as a
//! user would start it. Values of configuration files are among the options that it gets, and it does
//! not read the files again.

use std::ffi::OsString;
use std::process::{Child, Command, ExitStatus};
use std::thread;

use anyhow::Context;
use warpint::mersenne::DeviceChoice;
use warpint::runner::work::{Crew, Seat, seats};

use super::serve;
use crate::args::{Places, WorkArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::signals;

/// Starts `each` processes on every device, and waits until all have ended. Returns the exit code of all
/// processes together.
pub(super) fn run(args: &WorkArgs, devices: &[DeviceChoice], each: usize) -> anyhow::Result<Exit> {
    let cores = thread::available_parallelism().map_or(1, |n| n.get());
    let seats = seats(devices, each, args.together, args.how.threads, cores)?;
    let program = std::env::current_exe().context("cannot find the program's own file")?;
    let command = |seat: Seat| {
        let mut command = Command::new(&program);
        command.args(worker_args(args, &seat));
        (seat, command)
    };
    serve::start(&args.dir, args.serve, args.quiet)?;
    let (console, stop) = Console::install(args.quiet, args.json)?;
    let ended = crew(seats.into_iter().map(command).collect()).run(&console, &stop);
    let ended: Vec<Exit> = ended.into_iter().map(how).collect();
    Ok(exit_of(stop.is_stopped(), &ended))
}

fn crew(commands: Vec<(Seat, Command)>) -> Crew {
    let is_orderly = |status| matches!(how(Some(status)), Exit::Done | Exit::Stopped);
    Crew { commands, is_orderly, ask: pass_on }
}

/// Passes on to a worker the signal by which this process was asked to stop. After Ctrl-C on a
/// terminal the worker has already received this signal, and treats both signals as one request.
#[cfg(unix)]
fn pass_on(child: &Child) {
    if let Some(signal) = signals::asked_by() {
        let _ = rustix::process::kill_process(rustix::process::Pid::from_child(child), signal);
    }
}

/// Does nothing, because the worker has already received the Ctrl-C of the console.
#[cfg(not(unix))]
fn pass_on(_: &Child) {}

/// Returns the command line of one worker: the given arguments, with the worker's own number,
/// device and threads.
fn worker_args(args: &WorkArgs, seat: &Seat) -> Vec<OsString> {
    // Without `..`, so that the compiler demands a decision for every new option.
    let WorkArgs {
        dir,
        add: _,
        worker: _,
        workers: _,
        together: _,
        wait,
        user,
        computer,
        how,
        device: _,
        no_proof,
        proof_power,
        checkpoint_interval,
        // The first process serves the page of all.
        serve: _,
        quiet,
        json,
    } = args;
    let mut line: Vec<OsString> = vec!["--no-config".into(), "work".into()];
    let mut give = |name: &str, value: &str| line.push(format!("--{name}={value}").into());
    give("worker", &seat.worker.to_string());
    if seat.together > 1 {
        give("together", &seat.together.to_string());
    }
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

/// Returns the exit code of all workers together: [`Exit::Stopped`] if a stop was requested,
/// otherwise the gravest exit code of a worker.
fn exit_of(stopped: bool, ended: &[Exit]) -> Exit {
    let gravest = ended.iter().copied().max().unwrap_or(Exit::Done);
    if stopped { Exit::Stopped } else { gravest }
}

/// Returns the exit code of the process of a worker. Returns [`Exit::Failed`] if the process could
/// not be started (`status` is `None`), if it crashed, or if its exit code is not one of [`Exit`].
fn how(status: Option<ExitStatus>) -> Exit {
    let Some(status) = status else { return Exit::Failed };
    let known = [Exit::Done, Exit::Stopped, Exit::BadInput, Exit::Negative];
    match status.code() {
        Some(code) => {
            known.into_iter().find(|exit| i32::from(exit.code()) == code).unwrap_or(Exit::Failed)
        }
        None if signals::is_request(status) => Exit::Stopped,
        None => Exit::Failed,
    }
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
        let seat = Seat {
            worker: 2,
            together: 1,
            device: DeviceChoice::On(DeviceId::Cuda(1)),
            threads: Some(3),
        };
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
                    "--serve=0",
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
    fn a_team_gets_its_first_number_and_its_size() {
        let device = DeviceChoice::On(DeviceId::Cuda(0));
        let seat = Seat { worker: 32, together: 16, device, threads: Some(2) };
        let line = worker_args(&parse(&["--workers=3", "--together=16"]), &seat);
        let line: Vec<_> = line.iter().map(|part| part.to_str().unwrap()).collect();
        let begin = [
            "--no-config",
            "work",
            "--worker=32",
            "--together=16",
            "--device=cuda:0",
            "--threads=2",
        ];
        assert_eq!(line[..6], begin);
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
        use std::sync::Arc;
        use warpint::mersenne::StopToken;
        use warpint::runner::{Observer, Unobserved};

        let seat = |worker| Seat { worker, together: 1, device: DeviceChoice::Cpu, threads: None };
        let shell = |worker, script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            (seat(worker), command)
        };
        let commands = vec![
            (seat(0), Command::new("/no/such/program")),
            shell(1, "kill -SEGV $$"),
            shell(2, "exit 2"),
            shell(3, "sleep 0.5; exit 0"),
            shell(4, "kill -TERM $$"),
        ];
        let observer: Arc<dyn Observer> = Arc::new(Unobserved);
        let ended = crew(commands).run(&observer, &StopToken::new());
        use Exit::{BadInput, Done, Failed, Stopped};
        let expected = [Failed, Failed, BadInput, Done, Stopped];
        assert_eq!(ended.into_iter().map(how).collect::<Vec<_>>(), expected);
    }
}
