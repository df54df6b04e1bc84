//! What was read: a message, and what was wrong with it.

/// What was wrong with a frame. The slug is what findings and traces call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Defect {
    /// Not JSON at all: text such as a log line.
    NotJson,
    /// JSON that ends too early.
    Truncated,
    /// The output ended before the line did: nobody takes it for a message.
    Unended,
    /// Longer than we are willing to take; the protocol sets no limit.
    TooLarge,
    /// Nested beyond the limit.
    TooDeep,
    /// Half a surrogate pair, and nothing else: many parsers refuse the whole text for it.
    LoneSurrogate,
    /// Bytes that are not UTF-8.
    InvalidUtf8,
    /// A byte order mark before the message.
    ByteOrderMark,
    /// An array of messages.
    Batch,
    /// JSON, but not an object.
    NotAnObject,
    /// `jsonrpc` is missing or not `"2.0"`.
    WrongVersion,
    /// Both `result` and `error`, or neither where one is needed.
    InvalidEnvelope,
    /// `error` without an integer `code`.
    InvalidError,
    /// `result` is not an object.
    InvalidResult,
    /// A member of the envelope stands twice.
    DuplicateMember,
    /// An id that is neither a string nor an integer.
    InvalidId,
    /// Our id came back as another type, such as `"7"` for `7`.
    IdTypeChanged,
}

impl Defect {
    /// The stable name.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::NotJson => "not_json",
            Self::Truncated => "truncated_json",
            Self::Unended => "unended_line",
            Self::TooLarge => "frame_too_large",
            Self::TooDeep => "too_deep",
            Self::LoneSurrogate => "lone_surrogate",
            Self::InvalidUtf8 => "invalid_utf8",
            Self::ByteOrderMark => "byte_order_mark",
            Self::Batch => "batch",
            Self::NotAnObject => "not_an_object",
            Self::WrongVersion => "wrong_jsonrpc_version",
            Self::InvalidEnvelope => "invalid_envelope",
            Self::InvalidError => "invalid_error",
            Self::InvalidResult => "invalid_result",
            Self::DuplicateMember => "duplicate_member",
            Self::InvalidId => "invalid_id",
            Self::IdTypeChanged => "id_type_changed",
        }
    }

    /// Whether a reply with this defect can still be taken for what it says.
    pub const fn is_fatal(self) -> bool {
        !matches!(self, Self::ByteOrderMark | Self::DuplicateMember | Self::IdTypeChanged)
    }
}

/// The id of a message, as far as it can be matched with one of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Id<'a> {
    /// One of our numbers.
    Number(u64),
    /// Anything else, as written.
    Other(&'a [u8]),
}

/// What a result says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultKind {
    /// A complete result.
    Complete,
    /// A tool result with `isError: true`.
    ToolError,
    /// Modern: the server needs input first.
    InputRequired,
    /// Modern: a `resultType` that we do not know.
    Unknown,
}

/// What a reply carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body<'a> {
    /// A result, as written.
    Result {
        /// The value of `result`.
        raw: &'a [u8],
        /// What it says about itself.
        kind: ResultKind,
    },
    /// An error, as written.
    Error {
        /// The value of `error`.
        raw: &'a [u8],
        /// Its code, 0 where there is none.
        code: i64,
    },
    /// Neither, or both.
    Unclear,
}

/// One message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message<'a> {
    /// A reply.
    Response {
        /// What it answers.
        id: Id<'a>,
        /// What it says.
        body: Body<'a>,
    },
    /// A request to us.
    Request {
        /// What we must answer with, as written.
        id: &'a [u8],
        /// The method, as written between its quotes.
        method: &'a [u8],
        /// The parameters, as written.
        params: Option<&'a [u8]>,
    },
    /// A notification.
    Notification {
        /// The method, as written between its quotes.
        method: &'a [u8],
        /// The parameters, as written.
        params: Option<&'a [u8]>,
    },
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading<'a> {
    /// The message, if there is one.
    pub message: Option<Message<'a>>,
    /// What was wrong. Empty for nearly every frame, and then it costs no allocation.
    pub defects: Vec<Defect>,
}

impl Reading<'_> {
    /// Whether anything was wrong that makes the message unreliable.
    pub fn is_malformed(&self) -> bool {
        self.defects.iter().any(|defect| defect.is_fatal())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_apart_and_a_few_defects_can_be_lived_with() {
        let all = [
            Defect::NotJson,
            Defect::Truncated,
            Defect::Unended,
            Defect::TooLarge,
            Defect::TooDeep,
            Defect::LoneSurrogate,
            Defect::InvalidUtf8,
            Defect::ByteOrderMark,
            Defect::Batch,
            Defect::NotAnObject,
            Defect::WrongVersion,
            Defect::InvalidEnvelope,
            Defect::InvalidError,
            Defect::InvalidResult,
            Defect::DuplicateMember,
            Defect::InvalidId,
            Defect::IdTypeChanged,
        ];
        let told: Vec<_> = all.map(|one| (one.slug(), one.is_fatal())).to_vec();
        insta::assert_debug_snapshot!(told);
    }

    #[test]
    fn a_message_is_malformed_by_one_defect_that_cannot_be_lived_with() {
        for (defects, expected) in [
            (vec![], false),
            (vec![Defect::ByteOrderMark, Defect::IdTypeChanged], false),
            (vec![Defect::ByteOrderMark, Defect::InvalidId], true),
        ] {
            let reading = Reading { message: None, defects };
            assert_eq!(reading.is_malformed(), expected, "{reading:?}");
        }
    }
}
