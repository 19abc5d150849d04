//! The files of a source, in the form that the C++ compiler reads.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Component, Path};

use crate::{DeviceError, Source};

/// The name of the file that includes the kernels and lists them.
pub(super) const MAIN: &str = "simt_module.cpp";
/// The name of the file with the constants of a recorded unit, one `NAME=VALUE` per line.
const DEFINES: &str = "defines.txt";

/// The files and the constants of a translation unit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Unit {
    /// The relative path and the text of each file.
    pub(super) files: Vec<(String, String)>,
    /// The constants, each as `NAME=VALUE`.
    pub(super) defines: Vec<String>,
    /// The source's file name and constants, for messages.
    pub(super) title: String,
}

impl Unit {
    pub(super) fn new(source: &Source) -> Result<Self, DeviceError> {
        let mut files = vec![(source.name().to_owned(), source.text().to_owned())];
        files.extend(source.header_texts().iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned())));
        for (name, _) in &files {
            if !Path::new(name).components().all(|c| matches!(c, Component::Normal(_))) {
                return Err(DeviceError::Compile {
                    source_title: source.title(),
                    log: format!("`{name}` is not a relative path without `..`"),
                });
            }
        }
        // An unnamed namespace, so that the names of all kernels are local to the unit, and static
        // variables of inline functions and templates may share a section.
        let mut main = format!(
            "namespace {{\n#include \"{}\"\n}}\n#include \"kernel_table.h\"\n",
            source.name()
        );
        let kernels: Vec<_> =
            source.kernels().iter().map(|name| format!("SIMT_KERNEL({name})")).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(main, "SIMT_MODULE({})", kernels.join(", "));
        files.push((MAIN.to_owned(), main));
        let defines = source.defines().iter().map(|(n, v)| format!("{n}={v}")).collect();
        Ok(Self { files, defines, title: source.title() })
    }

    /// Writes the files of the unit, without its constants, into a folder.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        for (name, text) in &self.files {
            let path = folder.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(path, text)?;
        }
        Ok(())
    }

    /// Writes the files and the constants into a folder, from which [`Unit::read`] reads them.
    pub(super) fn record(&self, folder: &Path) -> io::Result<()> {
        self.write(folder)?;
        fs::write(folder.join(DEFINES), self.defines.join("\n"))
    }

    /// Reads a unit from a folder into which [`Unit::record`] wrote it. The title of the unit is
    /// the path of the folder.
    pub(super) fn read(folder: &Path) -> io::Result<Self> {
        let mut files = vec![];
        read_folder(folder, "", &mut files)?;
        files.sort();
        let at = files.iter().position(|(name, _)| name == DEFINES);
        let defines = at.map(|at| files.remove(at).1).unwrap_or_default();
        let defines = defines.lines().map(str::to_owned).collect();
        Ok(Self { files, defines, title: folder.display().to_string() })
    }
}

fn read_folder(folder: &Path, prefix: &str, files: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            read_folder(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.push((name, fs::read_to_string(entry.path())?));
        }
    }
    Ok(())
}
