//! The method names that we send or meet, and the keys of a modern request's `_meta`.

/// Legacy handshake.
pub const INITIALIZE: &str = "initialize";
/// Legacy: the handshake is done.
pub const INITIALIZED: &str = "notifications/initialized";
/// Modern: what does the server offer?
pub const DISCOVER: &str = "server/discover";
/// Legacy: are you there?
pub const PING: &str = "ping";
/// Which tools are there?
pub const TOOLS_LIST: &str = "tools/list";
/// Call a tool.
pub const TOOLS_CALL: &str = "tools/call";
/// A request is withdrawn.
pub const CANCELLED: &str = "notifications/cancelled";
/// Progress of a request.
pub const PROGRESS: &str = "notifications/progress";
/// Legacy, server to client: which roots are there?
pub const ROOTS_LIST: &str = "roots/list";
/// Server to client: ask the model.
pub const SAMPLING: &str = "sampling/createMessage";
/// Server to client: ask the user.
pub const ELICITATION: &str = "elicitation/create";

/// Modern `_meta` key: the revision of the request.
pub const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Modern `_meta` key: who we are.
pub const META_CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// Modern `_meta` key: what we can do.
pub const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Modern `_meta` key: who the server is.
pub const META_SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
