//! What a tool wants to remember between two rounds, carried by the client and sealed, so that it
//! comes back as it was or not at all.

use std::sync::OnceLock;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

use crate::catalog::builtin::entropy;

/// The state with its seal.
pub(super) fn seal(state: &str) -> String {
    format!("{state}.{}", mark(state))
}

/// The state, if the seal is whole.
pub(super) fn open(sealed: &str) -> Option<&str> {
    let (state, found) = sealed.rsplit_once('.')?;
    (found == mark(state)).then_some(state)
}

/// Nobody outside this process can make it.
fn mark(state: &str) -> String {
    static SECRET: OnceLock<[u64; 4]> = OnceLock::new();
    let secret = SECRET.get_or_init(|| std::array::from_fn(|_| entropy()));
    let mut hash = Sha256::new();
    for word in secret {
        hash.update(word.to_le_bytes());
    }
    hash.update(state.as_bytes());
    // The second pass keeps anybody from going on where the first has stopped.
    URL_SAFE_NO_PAD.encode(Sha256::digest(hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_seal_is_seen() {
        let sealed = seal("round.1");
        assert_eq!(open(&sealed), Some("round.1"));
        for broken in [format!("{sealed}-TAMPERED"), sealed.replace("1.", "2."), "x".into()] {
            assert_eq!(open(&broken), None, "{broken}");
        }
    }
}
