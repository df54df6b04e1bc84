//! What the official conformance suite expects of a server: tools, resources and prompts with fixed
//! names and texts. The suite calls them by these names, so they are part of no group.
//!
//! | file      | what is in it                                                      |
//! |-----------|--------------------------------------------------------------------|
//! | `content` | tools that give one kind of content                                |
//! | `talk`    | tools that say something before they answer, or ask                |
//! | `input`   | modern: tools that are asked again with what the client was asked  |
//! | `library` | resources and prompts                                              |

mod content;
mod input;
mod library;
mod state;
mod talk;

use super::Catalog;

/// A PNG of one red pixel.
const IMAGE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A WAV of one silent sample.
const AUDIO: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";

/// Adds all of it.
pub(crate) fn furnish(catalog: &mut Catalog) {
    catalog.extend(content::tools());
    catalog.extend(talk::tools());
    catalog.extend(input::tools());
    library::furnish(catalog);
}
