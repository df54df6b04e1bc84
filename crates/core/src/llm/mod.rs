//! What a mock of a model's API says, and how it fails: all that is decided without a socket.
//!
//! | file       | what it holds                                                            |
//! |------------|--------------------------------------------------------------------------|
//! | `provider` | whose API it is                                                          |
//! | `request`  | a request as fixtures look at it, whichever API it came by               |
//! | `fixture`  | the file that people write                                               |
//! | `book`     | which fixture answers a request, and how near the others came            |
//! | `answer`   | what is said: texts and tool calls, before any API gives it its form     |
//! | `problem`  | what is said when something is wrong: status, type, code, by provider    |
//! | `plan`     | what happens to one answer: delays, cuts, doubles; from a seed           |

mod answer;
mod book;
mod fixture;
mod plan;
mod problem;
mod provider;
mod request;

pub use self::{
    answer::{Answer, Block, CallId, StopReason, Usage, estimated_tokens},
    book::{Book, Chosen, NoMatch},
    fixture::{
        At, BytesFault, Cut, Delays, ErrorReply, Failure, Fixture, FixtureFile, Limits, LineEnd,
        Match, Pattern, Refusal, Response, ScenarioState, Split, StreamError, StreamFault,
        Streaming, Temperature, ToolCall, ToolFault, When,
    },
    plan::{Activation, Chaos, Plan},
    problem::{Problem, Wording, wording},
    provider::Provider,
    request::Request,
};
