//! The memory of this machine that the process may use.

use std::fs;
use std::path::Path;

/// Returns the available memory in bytes: what the system can give to programs without swapping, and
/// at most what the control groups of this process, such as those of a container, may still take.
/// Returns `None` if the system does not report it, which is the case on systems other than Linux.
#[must_use]
pub fn available_memory() -> Option<u64> {
    let of_system = meminfo(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let of_group = fs::read_to_string("/proc/self/cgroup")
        .ok()
        .and_then(|groups| of_groups(&groups, Path::new("/sys/fs/cgroup")));
    Some(of_group.map_or(of_system, |of_group| of_system.min(of_group)))
}

/// Returns the value of `MemAvailable` in the text of `/proc/meminfo`, in bytes.
fn meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1 << 10)
}

/// The names of the files that describe the memory of a control group.
struct Names {
    limit: &'static str,
    used: &'static str,
    /// The entry of `memory.stat` that counts the cached pages of files that were not used lately.
    cached: &'static str,
}

/// The files of control groups of version 2.
const VERSION_2: Names =
    Names { limit: "memory.max", used: "memory.current", cached: "inactive_file" };

/// The files of control groups of version 1.
const VERSION_1: Names = Names {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    cached: "total_inactive_file",
};

/// Returns the least memory that a control group of this process, or one around it, may still take.
/// `groups` is the text of `/proc/self/cgroup`, and `root` is the folder of the control groups. Returns
/// `None` if there is no limit.
fn of_groups(groups: &str, root: &Path) -> Option<u64> {
    let left = groups.lines().filter_map(|line| {
        // A line is `hierarchy:controllers:/path`. Version 2 has the hierarchy 0 and names no
        // controllers.
        let (hierarchy, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(":/")?;
        if hierarchy == "0" && controllers.is_empty() {
            of_group(root, path, &VERSION_2)
        } else if controllers.split(',').any(|controller| controller == "memory") {
            of_group(&root.join("memory"), path, &VERSION_1)
        } else {
            None
        }
    });
    left.min()
}

/// Returns the least memory that the group at `path` below `root`, or a group around it, may still take.
/// In a container, `path` may name a folder that exists only outside, but `root` is that of the
/// container's own group.
fn of_group(root: &Path, path: &str, names: &Names) -> Option<u64> {
    let group = root.join(path);
    let around = group.ancestors().take_while(|folder| folder.starts_with(root));
    around.filter_map(|folder| left(folder, names)).min()
}

/// Returns the memory that one group may still take: its limit without what is used, where cached pages
/// of files that can be given up do not count. Returns `None` without a limit.
fn left(folder: &Path, names: &Names) -> Option<u64> {
    let text = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let number = |name: &str| text(name)?.trim().parse::<u64>().ok();
    let (limit, used) = (number(names.limit)?, number(names.used)?);
    let stat = text("memory.stat").unwrap_or_default();
    let cached = stat.lines().find_map(|line| {
        line.strip_prefix(names.cached)?.strip_prefix(' ')?.trim().parse::<u64>().ok()
    });
    Some(limit.saturating_sub(used.saturating_sub(cached.unwrap_or(0))))
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
        assert!(available_memory().is_some_and(|bytes| bytes > 1 << 20));
    }

    /// Writes files, given by their paths below `root`.
    fn write(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn groups_of_version_2_limit_the_memory() {
        let root = tempfile::tempdir().unwrap();
        let at = |groups: &str| of_groups(groups, root.path());
        let files = [
            ("a/b/memory.max", "max\n"),
            ("a/b/memory.current", "300\n"),
            ("a/memory.max", "1000\n"),
            ("a/memory.current", "700\n"),
            ("a/memory.stat", "anon 500\nfile 200\ninactive_file 150\nactive_file 50\n"),
        ];
        write(root.path(), &files);
        // The group itself has no limit, the one around it has.
        assert_eq!(at("0::/a/b\n"), Some(1000 - (700 - 150)));
        assert_eq!(at("0::/a\n"), Some(450));
        assert_eq!(at("0::/\n"), None);
        write(root.path(), &[("a/b/memory.max", "400")]);
        assert_eq!(at("0::/a/b\n"), Some(100));
        // More is used than the limit, and the cache is not read.
        write(root.path(), &[("a/memory.current", "1200"), ("a/memory.stat", "inactive_file x\n")]);
        assert_eq!(at("0::/a/b\n"), Some(0));
        // A path that exists only outside a container, whose own group is the root.
        write(root.path(), &[("memory.max", "5000"), ("memory.current", "1000")]);
        assert_eq!(at("0::/outside/x\n"), Some(4000));
        for text in ["", "0", "0::", "1:cpu:/a\n", "0::/b\n\n"] {
            assert_ne!(at(text), Some(0), "{text}");
        }
    }

    #[test]
    fn groups_of_version_1_limit_the_memory() {
        let root = tempfile::tempdir().unwrap();
        let files = [
            ("memory/docker/x/memory.limit_in_bytes", "2000\n"),
            ("memory/docker/x/memory.usage_in_bytes", "1500\n"),
            ("memory/docker/x/memory.stat", "inactive_file 1\ntotal_inactive_file 100\n"),
            // No limit.
            ("memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("memory/memory.usage_in_bytes", "4000\n"),
        ];
        write(root.path(), &files);
        let groups = "12:cpu,cpuacct:/docker/x\n5:memory:/docker/x\n0::/system.slice\n";
        assert_eq!(of_groups(groups, root.path()), Some(600));
        let none = "5:memory:/\n";
        assert!(of_groups(none, root.path()).is_some_and(|left| left > 1 << 62));
        assert_eq!(of_groups("5:cpu:/docker/x\n", root.path()), None);
        // Version 2 counts too, where both are mounted.
        write(root.path(), &[("s/memory.max", "50"), ("s/memory.current", "10")]);
        assert_eq!(of_groups("5:memory:/docker/x\n0::/s\n", root.path()), Some(40));
    }
}
