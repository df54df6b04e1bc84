//! What was recorded, told again in its own time.

use std::{io, time::Duration};

use mcp_loadtest_core::llm::{Ending, Recording};
use tokio::io::AsyncWriteExt as _;

use super::{
    After, Connection,
    asking::{Asking, Sent},
    outgoing, refusal,
};

impl Connection {
    /// Tells a recording again.
    pub(super) async fn replay(
        &mut self,
        recording: &Recording,
        asking: &mut Asking,
    ) -> io::Result<Sent> {
        let response = &recording.response;
        let content_type = response.headers.get("content-type").map_or("", String::as_str);
        let headers: Vec<_> = response
            .headers
            .iter()
            .filter(|(name, _)| *name != "content-type")
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        asking.status = response.status;
        asking.fixture = Some((0, Some("recording".into())));
        refusal::note_advice(&headers, asking);
        let mut bytes =
            outgoing::head(response.status, content_type, &headers, asking.keep_alive, 0);
        bytes.extend_from_slice(b"transfer-encoding: chunked\r\n\r\n");
        let mut sent = 0;
        for chunk in &response.chunks {
            let wait = self.in_our_time(chunk.after_ms);
            if !wait.is_zero() {
                self.stream.write_all(&bytes).await?;
                bytes.clear();
                if self.gone_after(wait).await {
                    return Ok(Sent::new(sent, Ending::Aborted, After::Closed));
                }
            }
            let data = chunk.bytes();
            bytes.extend_from_slice(format!("{:x}\r\n", data.len()).as_bytes());
            bytes.extend_from_slice(&data);
            bytes.extend_from_slice(b"\r\n");
            sent += data.len();
        }
        if response.broken {
            self.stream.write_all(&bytes).await?;
            return Ok(Sent::new(sent, Ending::Broken, After::Closed));
        }
        bytes.extend_from_slice(b"0\r\n\r\n");
        self.stream.write_all(&bytes).await?;
        let ending = if response.status < 400 { Ending::Complete } else { Ending::Refused };
        Ok(Sent::new(sent, ending, outgoing::after(None, asking.keep_alive)))
    }

    fn in_our_time(&self, after_ms: f64) -> Duration {
        let speed = self.desk.replay_speed();
        let seconds = if speed > 0.0 { after_ms / 1e3 / speed } else { 0.0 };
        Duration::try_from_secs_f64(seconds).unwrap_or_default()
    }
}
