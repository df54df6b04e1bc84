//! The directory of several targets that are tested in turns; each has a directory of runs in it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use mcp_loadtest_core::{
    compare::{
        Comparison, TargetRuns,
        html::{self, Side, link},
        markdown,
    },
    config::Format,
    report::Report,
};

use crate::{
    error::RunError,
    history::{self, History},
    run_dir::{self, file},
    saved::{self, SavedError, SavedRun},
    wall_clock::Identity,
};

/// The directory.
#[derive(Debug, Clone)]
pub struct RoundsDir {
    path: PathBuf,
}

impl RoundsDir {
    /// Makes `<parent>/<time>-compare-<id>/`.
    pub fn create(parent: &Path) -> Result<Self, RunError> {
        let identity = Identity::new();
        let path = parent.join(run_dir::name(&identity, "-compare"));
        fs::create_dir_all(&path)
            .map_err(|source| RunError::Output { path: path.clone(), source })?;
        Ok(Self { path })
    }

    /// Looks into a directory; nothing where it is not one of several targets.
    pub fn open(path: impl Into<PathBuf>) -> Option<Self> {
        let path = path.into();
        let has = |name| path.join(name).is_file();
        // A run that was compared with a baseline has a comparison too.
        (has(file::COMPARISON) && !has(file::METRICS) && !has(file::TRACE)).then_some(Self { path })
    }

    /// How the targets compared.
    pub fn comparison(&self) -> Result<Comparison, SavedError> {
        saved::comparison(&self.path)
    }

    /// The runs of each target, in the order of the rounds.
    pub fn runs(&self, comparison: &Comparison) -> Result<Vec<TargetRuns>, SavedError> {
        let others = comparison.candidates.iter().map(|candidate| &candidate.target);
        let labels = std::iter::once(&comparison.base).chain(others).map(|target| &target.label);
        // Somebody may have written into the file what leads out of the directory.
        let within = labels.filter(|label| Path::new(label).file_name() == Some(label.as_ref()));
        within.map(|label| self.runs_of(label)).collect()
    }

    fn runs_of(&self, label: &str) -> Result<TargetRuns, SavedError> {
        let past = History::of(self.of_target(label)).runs()?;
        let reports = past.iter().rev().map(|run| SavedRun::read(&run.dir));
        Ok(TargetRuns { label: label.to_owned(), reports: reports.collect::<Result<_, _>>()? })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory that holds the runs of one target.
    pub fn of_target(&self, label: &str) -> PathBuf {
        self.path.join(label)
    }

    /// Where the comparison lies in this form, if it has a file of its own.
    pub fn file(&self, format: Format) -> Option<PathBuf> {
        match format {
            Format::Markdown => Some(self.path.join(file::REPORT)),
            Format::Html => Some(self.path.join(file::PAGE)),
            _ => None,
        }
    }

    /// Writes `comparison.json`, and `report.md` and `report.html` where these forms are asked for. The
    /// runs are those that were compared.
    pub fn write(
        &self,
        comparison: &Comparison,
        runs: &[TargetRuns],
        formats: &[Format],
    ) -> Result<(), RunError> {
        history::write(&self.path, comparison)?;
        if formats.contains(&Format::Markdown) {
            self.form(file::REPORT, |page| markdown::render(comparison, page))?;
        }
        if formats.contains(&Format::Html) {
            self.form(file::PAGE, |page| self.render_page(comparison, runs, page))?;
        }
        Ok(())
    }

    /// Writes the comparison as one HTML page that leads to those of the runs.
    pub fn render_page(
        &self,
        comparison: &Comparison,
        runs: &[TargetRuns],
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let sides: Vec<Side<'_>> = runs.iter().map(|target| self.side(target)).collect();
        html::render(comparison, &sides, out)
    }

    fn form(
        &self,
        name: &str,
        render: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> Result<(), RunError> {
        let mut page = Vec::new();
        render(&mut page)
            .map_err(|source| RunError::Output { path: self.path.join(name), source })?;
        run_dir::write_whole(&self.path, name, page)
    }

    /// A run has a page of its own in the same forms as the comparison.
    fn side<'a>(&self, target: &'a TargetRuns) -> Side<'a> {
        let page = |report: &Report| {
            let dir = report.run_dir.as_ref()?;
            link(&self.path, &dir.join(file::PAGE))
        };
        Side { reports: &target.reports, pages: target.reports.iter().map(page).collect() }
    }
}
