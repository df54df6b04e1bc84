//! Many slow streams at once, for the bench: `llm_streams URL STREAMS PAUSE_MS` asks for that many and
//! tells as JSON how late frames were. The n-th frame of a stream is due n pauses after its first.

use std::{env, io, io::Write as _, time::Duration};

use hdrhistogram::Histogram;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinSet,
    time::Instant,
};

const BODY: &str = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"slow"}]}"#;

/// When frames came after the first one, and whether the stream came to its end.
async fn listen(authority: String) -> io::Result<(Vec<Duration>, bool)> {
    let mut stream = TcpStream::connect(&authority).await?;
    let length = BODY.len();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {authority}\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(format!("{head}{BODY}").as_bytes()).await?;
    let (mut first, mut frames, mut is_whole) = (None, Vec::new(), false);
    let mut bytes = Vec::with_capacity(2048);
    while !is_whole && stream.read_buf(&mut bytes).await? > 0 {
        let now = Instant::now();
        let begun = *first.get_or_insert(now);
        let count = memchr::memmem::find_iter(&bytes, b"data: ").count();
        frames.extend(std::iter::repeat_n(now - begun, count));
        is_whole = bytes.ends_with(b"0\r\n\r\n");
        // A mark may be cut in two.
        let kept = bytes.len() - bytes.len().min(5);
        bytes.drain(..kept);
    }
    Ok((frames, is_whole))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [url, streams, pause] =
        env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| "three words")?;
    let authority = url.trim_start_matches("http://").to_owned();
    let pause = Duration::from_millis(pause.parse()?);
    let mut listening = JoinSet::new();
    for _ in 0..streams.parse::<usize>()? {
        listening.spawn(listen(authority.clone()));
    }
    let mut late = Histogram::<u64>::new(3)?;
    let (mut whole, mut broken) = (0_u64, 0_u64);
    while let Some(done) = listening.join_next().await {
        let Ok((frames, true)) = done? else {
            broken += 1;
            continue;
        };
        whole += 1;
        for (number, came) in frames.into_iter().enumerate() {
            let due = pause * u32::try_from(number)?;
            late.record(came.saturating_sub(due).as_micros() as u64)?;
        }
    }
    let ms = |share| late.value_at_quantile(share) as f64 / 1e3;
    let told = json!({
        "whole": whole, "broken": broken, "frames": late.len(),
        "late_p50_ms": ms(0.5), "late_p99_ms": ms(0.99), "late_max_ms": late.max() as f64 / 1e3,
    });
    writeln!(io::stdout(), "{told}")?;
    Ok(())
}
