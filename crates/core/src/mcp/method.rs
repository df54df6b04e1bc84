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
/// Server to client: a line for the log.
pub const LOG_MESSAGE: &str = "notifications/message";
/// The list of tools has changed.
pub const TOOLS_CHANGED: &str = "notifications/tools/list_changed";
/// The list of prompts has changed.
pub const PROMPTS_CHANGED: &str = "notifications/prompts/list_changed";
/// A resource has changed.
pub const RESOURCE_UPDATED: &str = "notifications/resources/updated";
/// Which resources are there?
pub const RESOURCES_LIST: &str = "resources/list";
/// Which families of resources are there?
pub const TEMPLATES_LIST: &str = "resources/templates/list";
/// Read a resource.
pub const RESOURCES_READ: &str = "resources/read";
/// Legacy: tell me when a resource changes.
pub const RESOURCES_SUBSCRIBE: &str = "resources/subscribe";
/// Legacy: no longer.
pub const RESOURCES_UNSUBSCRIBE: &str = "resources/unsubscribe";
/// Which prompts are there?
pub const PROMPTS_LIST: &str = "prompts/list";
/// Fill a prompt in.
pub const PROMPTS_GET: &str = "prompts/get";
/// How might an argument go on?
pub const COMPLETE: &str = "completion/complete";
/// Legacy: how much to log.
pub const SET_LEVEL: &str = "logging/setLevel";
/// Modern: tell me when something changes.
pub const LISTEN: &str = "subscriptions/listen";
/// Modern: the wish is noted; the first message of such a stream.
pub const LISTENING: &str = "notifications/subscriptions/acknowledged";
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
/// Modern `_meta` key: how much to log about this request.
pub const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// Modern `_meta` key: which `subscriptions/listen` a message belongs to.
pub const META_SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
