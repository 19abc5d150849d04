//! The folders in which this program keeps files between runs.

use std::env;
use std::path::PathBuf;

use directories::ProjectDirs;

/// Returns the folder for files that can be recreated: `WARPINT_CACHE_DIR` if it is set, otherwise
/// `~/.cache/warpint` or the operating system's equivalent. Returns `None` if the variable is not
/// set and the user has no home directory.
#[cfg(any(feature = "cuda", feature = "sim"))]
pub(crate) fn cache() -> Option<PathBuf> {
    chosen("WARPINT_CACHE_DIR").or_else(|| Some(project()?.cache_dir().to_owned()))
}

/// Returns the folder for measurements and the user's configuration: `WARPINT_CONFIG_DIR` if it is
/// set, otherwise `~/.config/warpint` or the operating system's equivalent. Returns `None` if the
/// variable is not set and the user has no home directory.
#[must_use]
pub fn config() -> Option<PathBuf> {
    chosen("WARPINT_CONFIG_DIR").or_else(|| Some(project()?.config_dir().to_owned()))
}

fn chosen(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn project() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "warpint")
}
