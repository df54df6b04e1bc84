//! Over our own stdin and stdout.

use rmcp::{ServiceExt as _, transport::stdio_pipes};

use super::handler::Handler;
use crate::{error::CliError, interrupt};

/// Serves until the client closes our stdin, or a signal comes.
pub(crate) async fn serve(handler: Handler) -> Result<(), CliError> {
    let served = async {
        // A client that leaves without a word has not begun; that is no failure of ours.
        if let Ok(service) = handler.serve(stdio_pipes()).await {
            let _ = service.waiting().await;
        }
    };
    tokio::select! {
        () = served => {}
        () = interrupt::signal() => {}
    }
    Ok(())
}
