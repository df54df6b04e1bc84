//! The pages of comparisons.

use std::{fs, path::PathBuf};

use serde_json::Value;

use super::see;
use crate::harness::{Ran, mock, run_in};

fn page_of(ran: &Ran) -> PathBuf {
    let path = ran.out.lines().find_map(|line| line.strip_prefix("Page: "));
    path.unwrap_or_else(|| panic!("no page in {}{}", ran.out, ran.err)).into()
}

/// Every way that the page names leads to a page.
fn leads_to_pages(page: &Value, from: &std::path::Path, count: usize) {
    let links: Vec<&str> =
        page["links"].as_array().unwrap().iter().map(|link| link.as_str().unwrap()).collect();
    let pages: Vec<&&str> = links.iter().filter(|link| link.ends_with("report.html")).collect();
    assert_eq!(pages.len(), count, "{links:?}");
    for link in pages {
        let file = from.parent().unwrap().join(link.replace("%20", " "));
        assert!(file.is_file(), "{link} leads nowhere from {}", from.display());
    }
}

#[test]
fn several_servers_have_one_page() {
    let dir = tempfile::tempdir().unwrap();
    let (fast, slow) = (mock("mock-normal.py"), mock("mock-slow.py"));
    let servers = ["run", "-s", &fast, "-s", &slow, "-s", &fast, "-o", "my runs"];
    let load = ["--env", "MOCK_DELAY_S=0.05", "--tool", "echo", "--concurrent", "1"];
    let length = ["--think-time", "5ms", "--duration", "1s", "--repeat", "3", "-q"];
    let ran = run_in(dir.path(), &[servers.as_slice(), &load, &length].concat());
    let file = page_of(&ran);
    let seen = see("glance", &file);
    let page = &seen["page"];
    assert!(page["hit"].is_null() && page["unnamed"] == 0, "{page:#}");
    assert_eq!((&page["shapes"]["band"], &page["pictures"]), (&3.into(), &1.into()), "{page:#}");
    for (caption, rows) in [
        ("Percentile spectrum: the numbers", 6),
        ("Throughput, errors and times of each side", 3),
        ("The runs", 9),
    ] {
        assert_eq!(page["tables"][caption], rows, "{caption}: {:#}", page["tables"]);
    }
    leads_to_pages(page, &file, 9);
    let text = page["text"].as_str().unwrap();
    for part in ["2 servers against a", "What this means", "b against a", "c against a"] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    assert_eq!(seen["still"]["pictures"], 1, "the picture needs no script");
}

#[test]
fn saved_runs_are_compared_on_one_page_with_bands() {
    let dir = tempfile::tempdir().unwrap();
    let server = mock("mock-normal.py");
    let run = |name: &str| {
        let args = ["run", "-s", &server, "--tool", "echo", "--rate", "80/s", "--duration", "8s"];
        run_in(dir.path(), &[args.as_slice(), &["-q", "-o", name]].concat());
        let found = fs::read_dir(dir.path().join(name)).unwrap().next().unwrap().unwrap().path();
        found.display().to_string()
    };
    let runs = [run("main"), run("<img src=x onerror=window.hit=1>"), run("c #3")];
    let [base, one, other] = runs.each_ref().map(String::as_str);
    for (paths, sides) in [(&[base, one][..], 2_u64), (&[base, one, other], 3)] {
        let file = dir.path().join("page.html");
        let ran = run_in(dir.path(), &[&["compare"], paths, &["--html", "page.html"]].concat());
        assert_ne!(ran.code, 130, "{}", ran.err);
        let page = &see("glance", &file)["page"];
        assert!(page["hit"].is_null() && page["images"] == 0 && page["unnamed"] == 0, "{page:#}");
        assert_eq!(page["shapes"]["band"], sides, "{page:#}");
        assert_eq!(page["tables"]["Percentile spectrum: the numbers"], 6);
        assert_eq!(page["tables"]["The runs"], sides);
        let links = page["links"].as_array().unwrap().len();
        assert_eq!(links as u64, sides, "{:#}", page["links"]);
    }
}
