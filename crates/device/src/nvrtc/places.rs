//! The folders and file names at which NVRTC may be installed.

use std::collections::HashSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The newest major version of CUDA whose library is requested by name if there is no driver.
const NEWEST: u32 = 13;
/// The oldest major version of CUDA whose library is requested by name.
const OLDEST: u32 = 12;

/// The root folders of the Python installations that [`register_python`] has added.
static REGISTERED: Mutex<Vec<PathBuf>> = Mutex::new(vec![]);

fn registered() -> MutexGuard<'static, Vec<PathBuf>> {
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds the root folder of a Python installation, whose wheels are searched before those of other
/// Python installations.
pub(super) fn register_python(root: &Path) {
    let mut registered = registered();
    if !registered.iter().any(|other| other == root) {
        registered.push(root.to_owned());
    }
}

/// The folders and names at which NVRTC is searched for. The default value contains no folders and
/// no names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Places {
    /// The value of `WARPINT_NVRTC`, a file or folder. If it is set, nothing else is searched.
    pub(super) chosen: Option<PathBuf>,
    /// The toolkit folders named by `CUDA_PATH` and `CUDA_HOME`.
    pub(super) toolkits: Vec<PathBuf>,
    /// Whether to try bare library names, which the dynamic loader searches for.
    pub(super) by_name: bool,
    /// The root of the file system, under which the usual folders of toolkits are searched.
    pub(super) root: Option<PathBuf>,
    /// The root folders of Python installations, virtual environments first.
    pub(super) pythons: Vec<PathBuf>,
}

impl Places {
    pub(super) fn of_this_process() -> Self {
        let folder = |name| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let mut pythons = registered().clone();
        pythons.extend(["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(folder));
        for folder in env::split_paths(&env::var_os("PATH").unwrap_or_default()) {
            pythons.extend(pythons_of(&folder));
        }
        // For `pip install --user`, and for Debian's pip.
        pythons.extend(folder("HOME").map(|home| home.join(".local")));
        pythons.extend(["/usr/local", "/usr"].map(PathBuf::from));
        Self {
            chosen: folder("WARPINT_NVRTC"),
            toolkits: ["CUDA_PATH", "CUDA_HOME"].into_iter().filter_map(folder).collect(),
            by_name: true,
            root: Some("/".into()),
            pythons,
        }
    }

    pub(super) fn chosen(&self) -> Option<&Path> {
        self.chosen.as_deref()
    }

    /// Returns the candidates in the order in which they are to be tried: files that exist, without
    /// duplicates, and bare names for the dynamic loader. `newest` is the major version of CUDA
    /// that the driver supports; `None` without a driver.
    pub(super) fn candidates(&self, newest: Option<u32>) -> Vec<PathBuf> {
        if let Some(chosen) = &self.chosen {
            // An absolute path, because the loader would search for a bare name elsewhere.
            let absolute = std::path::absolute(chosen).unwrap_or_else(|_| chosen.clone());
            return if absolute.is_file() {
                vec![absolute]
            } else {
                ["", "lib64", "lib", "bin"]
                    .iter()
                    .flat_map(|f| libraries(&absolute.join(f)))
                    .collect()
            };
        }
        let mut found: Vec<_> = self.toolkits.iter().flat_map(|t| of_toolkit(t)).collect();
        if self.by_name {
            found.extend(names(newest.unwrap_or(NEWEST)));
        }
        if let Some(root) = &self.root {
            let mut toolkits = children(&root.join("usr/local"), "cuda");
            toolkits.push(root.join("opt/cuda"));
            found.extend(toolkits.iter().flat_map(|t| of_toolkit(t)));
        }
        found.extend(self.pythons.iter().flat_map(|p| of_python(p)));
        let mut seen = HashSet::new();
        found.retain(|path| seen.insert(fs::canonicalize(path).unwrap_or_else(|_| path.clone())));
        found
    }
}

/// Returns the root folders of the Python installation whose program is in `folder`. The list is
/// empty if `folder` contains no Python program. Does not run the program.
fn pythons_of(folder: &Path) -> Vec<PathBuf> {
    let program = folder.join(if cfg!(windows) { "python.exe" } else { "python3" });
    if !program.is_file() {
        return vec![];
    }
    let above = |path: &Path| path.parent().map(Path::to_owned);
    // The program of a virtual environment links to that of the underlying installation.
    let behind = fs::canonicalize(&program).ok().and_then(|p| above(above(&p)?.as_path()));
    let mut roots: Vec<_> = above(folder).into_iter().chain(behind).collect();
    if cfg!(windows) {
        roots.insert(0, folder.to_owned());
    }
    // pyenv's program is a script that selects one of its versions.
    if folder.ends_with("shims") {
        roots.extend(above(folder).iter().flat_map(|root| children(&root.join("versions"), "")));
    }
    roots
}

fn of_python(root: &Path) -> Vec<PathBuf> {
    let mut packages = vec![];
    for library in ["lib", "lib64"] {
        for python in children(&root.join(library), "python3") {
            packages.extend(["site-packages", "dist-packages"].map(|p| python.join(p)));
        }
    }
    packages.push(root.join("Lib/site-packages"));
    let mut found = vec![];
    for nvidia in packages.iter().map(|p| p.join("nvidia")) {
        let mut wheels = children(&nvidia, "cu");
        // A folder of its own up to CUDA 12, a common one from CUDA 13 on.
        wheels.retain(|w| w.ends_with("cuda_nvrtc") || is_numbered(w, "cu"));
        for wheel in wheels {
            found.extend(
                ["lib", "bin", "bin/x86_64"].iter().flat_map(|f| libraries(&wheel.join(f))),
            );
        }
    }
    found
}

fn of_toolkit(root: &Path) -> Vec<PathBuf> {
    let target = format!(
        "targets/{}-linux/lib",
        if cfg!(target_arch = "aarch64") { "sbsa" } else { "x86_64" }
    );
    ["lib64", "lib", &target, "bin", "bin/x64"]
        .iter()
        .flat_map(|f| libraries(&root.join(f)))
        .collect()
}

/// Returns the files in a folder whose names are names of NVRTC libraries, the newest version
/// first.
fn libraries(folder: &Path) -> Vec<PathBuf> {
    let mut found = children(folder, if cfg!(windows) { "nvrtc64_" } else { "libnvrtc.so" });
    found.retain(|path| path.is_file() && !path.to_string_lossy().contains(".alt."));
    found
}

/// Returns the bare library names to request from the dynamic loader. They are the names for the
/// major versions from [`OLDEST`] to `newest`, the newest first. Except on Windows, the name
/// without a version follows.
fn names(newest: u32) -> Vec<PathBuf> {
    if cfg!(windows) {
        // The name contains the first minor version of each major one.
        return (OLDEST..=newest).rev().map(|n| format!("nvrtc64_{n}0_0.dll").into()).collect();
    }
    let numbered = (OLDEST..=newest).rev().map(|n| format!("libnvrtc.so.{n}").into());
    numbered.chain(["libnvrtc.so".into()]).collect()
}

fn is_numbered(path: &Path, before: &str) -> bool {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    name.strip_prefix(before)
        .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns the entries of `folder` whose names start with `beginning`, sorted by the numbers in
/// their names, highest first. Empty if the folder cannot be read.
fn children(folder: &Path, beginning: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return vec![];
    };
    let mut found: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(beginning)))
        .collect();
    found.sort_by_key(|path| std::cmp::Reverse((numbers(path), path.clone())));
    found
}

/// Returns the decimal numbers in a file's name, for sorting: 12 and 10 for `cuda-12.10`, which is
/// newer than `cuda-12.9`.
fn numbers(path: &Path) -> Vec<u64> {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    /// Creates the given empty files in a temporary folder. Returns the candidates that `places`
    /// gives for this folder, as paths relative to the folder.
    fn found(files: &[&str], places: impl Fn(&Path) -> Places) -> Vec<String> {
        let tree = tempfile::tempdir().unwrap();
        for file in files {
            let file = tree.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let within = |path: PathBuf| match path.strip_prefix(tree.path()) {
            Ok(path) => path.to_string_lossy().into_owned(),
            Err(_) => path.to_string_lossy().into_owned(),
        };
        places(tree.path()).candidates(Some(13)).into_iter().map(within).collect()
    }

    #[test]
    fn a_chosen_file_or_folder_is_the_only_place() {
        let files =
            ["a/libnvrtc.so.12", "a/libnvrtc-builtins.so.12.8", "t/lib64/libnvrtc.so", "b/x"];
        for (chosen, expected) in [
            ("a", &["a/libnvrtc.so.12"][..]),
            ("a/libnvrtc.so.12", &["a/libnvrtc.so.12"]),
            ("t", &["t/lib64/libnvrtc.so"]),
            ("b", &[]),
            ("absent", &[]),
        ] {
            let places = |root: &Path| Places {
                chosen: Some(root.join(chosen)),
                toolkits: vec![root.join("t")],
                by_name: true,
                ..Places::default()
            };
            assert_eq!(found(&files, places), expected, "{chosen}");
        }
    }

    #[test]
    fn places_are_tried_in_order_and_newer_versions_first() {
        let files = [
            "home/lib64/libnvrtc.so.12",
            "usr/local/cuda-12.9/lib64/libnvrtc.so.12",
            "usr/local/cuda-12.10/targets/x86_64-linux/lib/libnvrtc.so.12",
            "usr/local/cuda-12.10/targets/sbsa-linux/lib/libnvrtc.so.12",
            "opt/cuda/lib64/libnvrtc.so.13",
            "venv/lib/python3.9/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
            "venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
            "venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.alt.so.13",
            "venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc-builtins.so.13.0",
            "venv/lib/python3.11/site-packages/nvidia/cublas/lib/libnvrtc.so.12",
        ];
        let target = if cfg!(target_arch = "aarch64") { "sbsa" } else { "x86_64" };
        let places = |root: &Path| Places {
            toolkits: vec![root.join("home")],
            by_name: true,
            root: Some(root.to_owned()),
            pythons: vec![root.join("venv"), root.join("absent")],
            ..Places::default()
        };
        assert_eq!(
            found(&files, places),
            [
                "home/lib64/libnvrtc.so.12",
                "libnvrtc.so.13",
                "libnvrtc.so.12",
                "libnvrtc.so",
                &format!("usr/local/cuda-12.10/targets/{target}-linux/lib/libnvrtc.so.12"),
                "usr/local/cuda-12.9/lib64/libnvrtc.so.12",
                "opt/cuda/lib64/libnvrtc.so.13",
                "venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
                "venv/lib/python3.9/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
            ]
        );
    }

    #[test]
    fn a_file_under_two_names_is_tried_once() {
        let tree = tempfile::tempdir().unwrap();
        let folder = tree.path().join("lib64");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("libnvrtc.so.13.0.88"), "").unwrap();
        for name in ["libnvrtc.so", "libnvrtc.so.13"] {
            std::os::unix::fs::symlink("libnvrtc.so.13.0.88", folder.join(name)).unwrap();
        }
        let places = Places { toolkits: vec![tree.path().to_owned()], ..Places::default() };
        assert_eq!(places.candidates(None).len(), 1);
    }

    #[test]
    fn pythons_are_found_without_running_them() {
        let tree = tempfile::tempdir().unwrap();
        let base = tree.path().canonicalize().unwrap();
        for folder in ["usr/bin", "venv/bin", "pyenv/shims", "pyenv/versions/3.12.1"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        fs::write(base.join("usr/bin/python3.11"), "").unwrap();
        fs::write(base.join("pyenv/shims/python3"), "").unwrap();
        let link =
            |to: &str, at: &str| std::os::unix::fs::symlink(base.join(to), base.join(at)).unwrap();
        link("usr/bin/python3.11", "usr/bin/python3");
        link("usr/bin/python3", "venv/bin/python3");
        let roots = |folder: &str| pythons_of(&base.join(folder));
        assert_eq!(roots("venv/bin"), [base.join("venv"), base.join("usr")]);
        assert!(roots("pyenv/shims").contains(&base.join("pyenv/versions/3.12.1")));
        assert!(roots("venv").is_empty());
    }

    #[test]
    fn registered_pythons_come_first_and_once() {
        let root = tempfile::tempdir().unwrap();
        register_python(root.path());
        register_python(root.path());
        let pythons = Places::of_this_process().pythons;
        assert_eq!(pythons[0], root.path());
        assert_eq!(pythons.iter().filter(|python| *python == root.path()).count(), 1);
    }

    #[test]
    fn only_names_that_the_driver_takes_are_asked_for() {
        let said =
            |newest| names(newest).iter().map(|n| n.display().to_string()).collect::<Vec<_>>();
        assert_eq!(said(12), ["libnvrtc.so.12", "libnvrtc.so"]);
        assert_eq!(said(13), ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]);
    }
}
