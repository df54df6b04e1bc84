//! Over our own stdin and stdout.

use rmcp::{
    RoleServer, ServiceExt as _,
    model::{ClientRequest, JsonRpcMessage},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::{IntoTransport, Transport, async_rw::TransportAdapterAsyncRW, stdio_pipes},
};

use super::handler::Handler;
use crate::{error::CliError, interrupt};

/// Serves until the client closes our stdin, or a signal comes.
pub(crate) async fn serve(handler: Handler) -> Result<(), CliError> {
    let pipes =
        IntoTransport::<RoleServer, _, TransportAdapterAsyncRW>::into_transport(stdio_pipes());
    let served = async {
        // A client that leaves without a word has not begun; that is no failure of ours.
        if let Ok(service) = handler.serve(Patient { inner: pipes, has_begun: false }).await {
            let _ = service.waiting().await;
        }
    };
    tokio::select! {
        () = served => {}
        () = interrupt::signal() => {}
    }
    Ok(())
}

/// Keeps from the SDK what it cannot take before a session has begun: at a notification or a reply it
/// would end. A client may well withdraw the only request that it has made so far.
struct Patient<T> {
    inner: T,
    has_begun: bool,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Patient<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.inner.receive().await?;
            match &message {
                JsonRpcMessage::Request(request) => {
                    self.has_begun |= !matches!(
                        request.request,
                        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_)
                    );
                    return Some(message);
                }
                _ if self.has_begun => return Some(message),
                _ => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
