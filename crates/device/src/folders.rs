//! Where this program keeps files between runs.

use std::env;
use std::path::PathBuf;

use directories::ProjectDirs;

/// For what can be made anew: `WARPINT_CACHE_DIR`, else `~/.cache/warpint` or
/// what this system has for it. `None` for a user without a home.
#[cfg(any(feature = "cuda", feature = "sim"))]
pub(crate) fn cache() -> Option<PathBuf> {
    chosen("WARPINT_CACHE_DIR").or_else(|| Some(project()?.cache_dir().to_owned()))
}

/// For what was measured: `WARPINT_CONFIG_DIR`, else `~/.config/warpint` or
/// what this system has for it. `None` for a user without a home.
pub(crate) fn config() -> Option<PathBuf> {
    chosen("WARPINT_CONFIG_DIR").or_else(|| Some(project()?.config_dir().to_owned()))
}

fn chosen(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn project() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "warpint")
}
