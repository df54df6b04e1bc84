//! The reader of frames: any bytes in, a message and its defects out. What it takes for a message
//! without a defect must be JSON to everybody else too.

use mcp_loadtest_core::jsonrpc;

pub(crate) fn holds(bytes: &[u8]) {
    let reading = jsonrpc::read(bytes);
    if reading.message.is_some() && reading.defects.is_empty() {
        let json = serde_json::from_slice::<&serde_json::value::RawValue>(bytes);
        assert!(json.is_ok(), "read as a message without a defect: {json:?}");
    }
}
