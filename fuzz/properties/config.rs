//! The readers of what people write: configuration, tools file, faults, client configurations. The
//! first byte says which. What is read must be written and read again as the same.

use std::path::Path;

use mcp_loadtest_core::{clients, config::Config, fault::Fault, tools_file::ToolsFile};

pub(crate) fn holds(input: &[u8]) {
    let Some((which, text)) = input.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    match which % 4 {
        0 => {
            if let Ok(config) = Config::parse(text, "bench.toml") {
                let _ = config.check();
                let _ = config.unused();
                let written = config.to_toml().expect("what was read can be written");
                assert_eq!(Config::parse(&written, "again.toml").as_ref(), Ok(&config));
            }
        }
        1 => _ = ToolsFile::parse(text, "tools.yaml"),
        2 => _ = text.parse::<Fault>(),
        _ => _ = clients::parse(Path::new("mcp.json"), text),
    }
}
