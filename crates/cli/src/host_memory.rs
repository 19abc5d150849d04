//! The memory of this machine that the program may use.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the available memory in bytes: what the system can give to programs without swapping, and
/// at most what the control group of this process may still take. Returns `None` if the system does not
/// report it, which is the case on systems other than Linux.
pub(crate) fn available() -> Option<u64> {
    let of_system = meminfo(&fs::read_to_string("/proc/meminfo").ok()?)?;
    Some(of_group().map_or(of_system, |of_group| of_system.min(of_group)))
}

/// Returns the value of `MemAvailable` in the text of `/proc/meminfo`, in bytes.
fn meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1 << 10)
}

/// Returns the memory that the control group (version 2) of this process and the groups around it may
/// still take. Returns `None` if there is no limit.
fn of_group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let root = Path::new("/sys/fs/cgroup");
    let mut folder: PathBuf = root.join(path);
    let mut least = None;
    while folder.starts_with(root) {
        let number =
            |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
        if let (Some(most), Some(used)) = (number("memory.max"), number("memory.current")) {
            let left = most.saturating_sub(used);
            least = Some(least.map_or(left, |least: u64| least.min(left)));
        }
        if !folder.pop() {
            break;
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_available_memory_is_read() {
        let text = "MemTotal:       24502000 kB\nMemFree: 1 kB\nMemAvailable:   23000000 kB\n";
        assert_eq!(meminfo(text), Some(23_000_000 << 10));
        for text in ["", "MemAvailable: x kB", "MemAvailable: 5 MB", "MemAvailable:"] {
            assert_eq!(meminfo(text), None, "{text}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_has_some() {
        assert!(available().is_some_and(|bytes| bytes > 1 << 20));
    }
}
