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
//! | `recording`| what a real server answered, told again to the same request only         |
//! | `journal`  | one request of a client, and what became of it                           |
//! | `judge`    | what clients did with the failures that they met                         |
//! | `secret`   | keys that must not be written down                                       |

mod answer;
mod book;
mod fixture;
mod journal;
mod judge;
mod plan;
mod problem;
mod provider;
mod recording;
mod request;
pub mod secret;

pub use self::{
    answer::{Answer, Block, CallId, StopReason, Usage, estimated_tokens},
    book::{Book, Chosen, NoMatch},
    fixture::{
        At, BytesFault, Cut, Delays, ErrorReply, Failure, Fixture, FixtureFile, Limits, LineEnd,
        Match, Oauth, Pattern, Refusal, Response, ScenarioState, Split, StreamError, StreamFault,
        Streaming, Temperature, Template, ToolCall, ToolFault, When,
    },
    journal::{Ending, Entry, TOKEN_RAN_OUT, asks_a_model},
    judge::{ClientReport, Patience, judge, rules},
    plan::{Activation, Chaos, Plan},
    problem::{Problem, Wording, wording},
    provider::Provider,
    recording::{RecordedChunk, RecordedRequest, RecordedResponse, Recording, Recordings},
    request::Request,
};
