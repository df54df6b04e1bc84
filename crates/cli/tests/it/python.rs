//! The Python package: made into a wheel of the binary that is built here anyway, installed into a
//! fresh environment, and tested there by pytest.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn environment() -> PathBuf {
    let home =
        std::env::var_os("TESTENV_HOME").map_or(root().join("target/testenv"), PathBuf::from);
    let home = home.join("python-package");
    assert!(home.exists(), "{} is not there: run `make env`", home.display());
    home
}

fn done(what: &str, command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let told = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{what}:\n{}\n{}", told[0], told[1]);
    output
}

/// The wheel, of the binary that these tests run.
fn wheel(into: &Path) -> PathBuf {
    let cargo = root().join("python/tests/built_cargo.py");
    // maturin takes the artifact away for a moment, and other tests start it meanwhile.
    let binary = into.join("mcp-loadtest");
    std::fs::copy(env!("CARGO_BIN_EXE_mcp-loadtest"), &binary).unwrap();
    let mut maturin = Command::new(environment().join("bin/maturin"));
    maturin
        .args(["build", "--auditwheel", "skip", "--profile", "dev", "--out"])
        .arg(into)
        .current_dir(root().join("python"))
        .env("REAL_CARGO", std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .env("BUILT_BINARY", binary)
        .env("CARGO", cargo);
    done("maturin", &mut maturin);
    let made = into.read_dir().unwrap().map(|entry| entry.unwrap().path());
    made.filter(|path| path.extension().is_some_and(|it| it == "whl")).last().unwrap()
}

#[test]
fn the_wheel_is_installed_and_its_fixtures_work() {
    let dir = tempfile::tempdir().unwrap();
    let wheel = wheel(dir.path());
    let fresh = dir.path().join("venv");
    let python = environment().join("bin/python");
    done("venv", Command::new(&python).args(["-m", "venv"]).arg(&fresh));
    let own = fresh.join("bin/python");
    let pip = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps"];
    done("pip", Command::new(&own).args(pip).arg(&wheel));
    let version = done("--version", Command::new(fresh.join("bin/mcp-loadtest")).arg("--version"));
    assert!(version.stdout.starts_with(b"mcp-loadtest "));
    // pytest itself comes from its environment; the plugin is found as an installed one.
    let site = "import sysconfig; print(sysconfig.get_path('purelib'))";
    let site = done("site", Command::new(&python).args(["-c", site])).stdout;
    let tests = dir.path().join("tests");
    std::fs::create_dir(&tests).unwrap();
    for name in ["conftest.py", "test_fixtures.py"] {
        std::fs::copy(root().join("python/tests").join(name), tests.join(name)).unwrap();
    }
    let said = done(
        "pytest",
        Command::new(&own)
            .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
            .current_dir(&tests)
            .env("PYTHONPATH", String::from_utf8(site).unwrap().trim()),
    );
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains(" passed") && !said.contains("skipped"), "{said}");
}
