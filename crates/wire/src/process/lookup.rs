//! Which file a command means, found before anything is started, so that a mistake can be named.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use mcp_loadtest_core::hint::{Hint, nearest};
use thiserror::Error;

/// A command that means no program.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LookupError {
    /// The command is the empty string.
    #[error("the server command is empty")]
    Empty,
    /// A bare name that is in no directory of `PATH`.
    #[error("no program `{command}` in PATH ({})", listed(searched))]
    NotInPath {
        /// What was written.
        command: String,
        /// Where it was looked for.
        searched: Vec<PathBuf>,
        /// What to try instead.
        advice: String,
    },
    /// A path at which there is nothing.
    #[error("no file at `{}`", path.display())]
    NoSuchFile {
        /// The path, made absolute.
        path: PathBuf,
    },
    /// A path that leads to a directory.
    #[error("`{}` is a directory, not a program", path.display())]
    Directory {
        /// The path, made absolute.
        path: PathBuf,
    },
    /// A file that nobody may execute.
    #[error("`{}` is not executable", path.display())]
    NotExecutable {
        /// The path, made absolute.
        path: PathBuf,
    },
}

impl Hint for LookupError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            LookupError::Empty => "name the program that starts the server".into(),
            LookupError::NotInPath { advice, .. } => advice.clone(),
            LookupError::NoSuchFile { path } => match path.parent() {
                Some(parent) if !parent.is_dir() => {
                    format!("check the path: there is no directory `{}`", parent.display())
                }
                _ => "check the path; a relative one counts from the server's working directory"
                    .into(),
            },
            LookupError::Directory { .. } => "name the program inside it".into(),
            LookupError::NotExecutable { path } => {
                let path = path.display();
                format!("run `chmod +x {path}`, or name its interpreter and give it as an argument")
            }
        })
    }
}

fn listed(searched: &[PathBuf]) -> String {
    if searched.is_empty() {
        return "which is empty".into();
    }
    let shown: Vec<_> = searched.iter().map(|path| path.display().to_string()).collect();
    shown.join(", ")
}

/// The file that `command` means in this environment; a relative path counts from `base`. Nothing is
/// started.
pub fn find_program(
    command: &str,
    environment: &impl Fn(&str) -> Option<OsString>,
    base: &Path,
) -> Result<PathBuf, LookupError> {
    Places::new(environment, base.to_owned()).find(command)
}

/// Where to look: the search path, the endings Windows adds, and where relative paths start.
pub(super) struct Places {
    pub(super) path: Vec<PathBuf>,
    /// `PATHEXT`; empty where a program's name is its whole name.
    pub(super) endings: Vec<String>,
    pub(super) base: PathBuf,
}

impl Places {
    /// The places that a server with this environment and working directory would look in.
    pub(super) fn new(environment: &impl Fn(&str) -> Option<OsString>, base: PathBuf) -> Self {
        let path = environment("PATH").unwrap_or_else(|| default_path().into());
        let path = std::env::split_paths(&path)
            .filter(|place| !place.as_os_str().is_empty())
            .map(|place| base.join(place))
            .collect();
        let endings = match environment("PATHEXT") {
            Some(endings) if cfg!(windows) => endings.to_string_lossy().into_owned(),
            _ if cfg!(windows) => ".COM;.EXE;.BAT;.CMD".into(),
            _ => String::new(),
        };
        let endings = endings.split(';').filter(|ending| !ending.is_empty());
        Places { path, endings: endings.map(str::to_owned).collect(), base }
    }

    /// The file that `command` means, as an absolute path.
    pub(super) fn find(&self, command: &str) -> Result<PathBuf, LookupError> {
        if command.is_empty() {
            return Err(LookupError::Empty);
        }
        if command.contains(std::path::is_separator) {
            let path = self.base.join(command);
            return self.program_at(&path).unwrap_or(Err(LookupError::NoSuchFile { path }));
        }
        // Like a shell, pass over directories, and go on after a file that cannot be run, but
        // remember it.
        let mut obstacle = None;
        for place in &self.path {
            match self.program_at(&place.join(command)) {
                Some(Ok(path)) => return Ok(path),
                Some(Err(error @ LookupError::NotExecutable { .. })) => {
                    obstacle = obstacle.or(Some(error));
                }
                _ => {}
            }
        }
        Err(obstacle.unwrap_or_else(|| LookupError::NotInPath {
            command: command.into(),
            searched: self.path.clone(),
            advice: self.advice(command),
        }))
    }

    /// The program at this path, or with one of the endings; `None` if there is nothing at all.
    fn program_at(&self, path: &Path) -> Option<Result<PathBuf, LookupError>> {
        // The bare name comes last: beside `npx.cmd` lies a shell script `npx`.
        let with_ending = self.endings.iter().map(|ending| {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        });
        let spellings = with_ending.chain([path.to_owned()]);
        let mut found = spellings.filter_map(|path| Some((std::fs::metadata(&path).ok()?, path)));
        let (metadata, path) = found.next()?;
        Some(if metadata.is_dir() {
            Err(LookupError::Directory { path })
        } else if is_executable(&metadata) {
            Ok(path)
        } else {
            Err(LookupError::NotExecutable { path })
        })
    }

    fn advice(&self, command: &str) -> String {
        if let Some((program, _)) = command.split_once(char::is_whitespace) {
            return format!("write the command as `{program}` and the rest as arguments");
        }
        if self.base.join(command).is_file() {
            return format!("write `./{command}` for the file in the working directory");
        }
        if let Some((_, product)) = INSTALLERS.iter().find(|(name, _)| *name == command) {
            return format!("install {product}, or give the full path of `{command}`");
        }
        let names = self.program_names();
        match nearest(command, names.iter().map(String::as_str)) {
            Some(name) => format!("did you mean `{name}`?"),
            None => "install it, or give its full path".into(),
        }
    }

    fn program_names(&self) -> Vec<String> {
        let entries = self.path.iter().filter_map(|place| std::fs::read_dir(place).ok());
        let names = entries.flatten().flatten().map(|entry| entry.file_name());
        names.filter_map(|name| name.into_string().ok()).collect()
    }
}

/// Where the usual starters of MCP servers come from.
const INSTALLERS: &[(&str, &str)] = &[
    ("bun", "Bun"),
    ("bunx", "Bun"),
    ("deno", "Deno"),
    ("docker", "Docker"),
    ("dotnet", "the .NET SDK"),
    ("go", "Go"),
    ("java", "a Java runtime"),
    ("node", "Node.js"),
    ("npm", "Node.js"),
    ("npx", "Node.js"),
    ("podman", "Podman"),
    ("uv", "uv"),
    ("uvx", "uv"),
];

/// What a shell takes when nobody set `PATH`.
fn default_path() -> &'static OsStr {
    OsStr::new(if cfg!(windows) { "" } else { "/usr/local/bin:/usr/bin:/bin" })
}

#[cfg(unix)]
fn is_executable(metadata: &std::fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_metadata: &std::fs::Metadata) -> bool {
    true
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    /// A directory with a program `tool`, a text `notes` and a directory `folder`.
    fn shelf() -> (tempfile::TempDir, Places) {
        let dir = tempfile::tempdir().unwrap();
        for (name, mode) in [("tool", 0o755), ("notes", 0o644), ("tool.cmd", 0o755)] {
            let path = dir.path().join(name);
            std::fs::write(&path, "").unwrap();
            let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
            std::fs::set_permissions(&path, permissions).unwrap();
        }
        std::fs::create_dir(dir.path().join("folder")).unwrap();
        let path = vec![dir.path().join("nowhere"), dir.path().to_owned()];
        let base = dir.path().to_owned();
        (dir, Places { path, endings: Vec::new(), base })
    }

    #[test]
    fn programs_are_found_by_name_and_by_path() {
        let (dir, places) = shelf();
        assert_eq!(places.find("tool").unwrap(), dir.path().join("tool"));
        assert_eq!(places.find("./tool").unwrap(), dir.path().join("./tool"));
    }

    #[test]
    fn each_mistake_has_its_own_words() {
        let (_dir, places) = shelf();
        let told = |command: &str| {
            let error = places.find(command).unwrap_err();
            format!("{error}; {}", error.hint().unwrap())
        };
        assert!(told("").contains("is empty"));
        assert!(told("tol").contains("did you mean `tool`?"), "{}", told("tol"));
        assert!(told("tool --fast").contains("the rest as arguments"));
        assert!(told("npx").contains("install Node.js"));
        assert!(told("zzzzzz").contains("/nowhere, "));
        assert!(told("notes").contains("chmod +x"));
        assert!(told("./folder").contains("is a directory"));
        assert!(told("./missing").contains("counts from"));
        assert!(told("./missing/tool").contains("there is no directory"));
    }

    #[test]
    fn windows_endings_win_over_the_bare_name() {
        let (dir, mut places) = shelf();
        places.endings = vec![".exe".into(), ".cmd".into()];
        assert_eq!(places.find("tool").unwrap(), dir.path().join("tool.cmd"));
        assert_eq!(places.find("tool.cmd").unwrap(), dir.path().join("tool.cmd"));
    }
}
