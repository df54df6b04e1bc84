//! Variables inside entries: `${VAR}`, `${VAR:-default}`, `$VAR`, `${env:VAR}`, `${workspaceFolder}`,
//! `${input:id}`, `${file:/path}`. Each client knows some of them; what it does not know it leaves
//! as it stands, and so do we. What it knows but has no value for is an error, never an empty text.

/// A way to write a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `${VAR}` and `${VAR:-default}`.
    Braced,
    /// `$VAR`.
    Bare,
    /// `${env:VAR}`.
    Env,
    /// `${workspaceFolder}`, `${userHome}` and their relatives.
    Folder,
    /// `${input:id}`; also `${config:…}` and `${command:…}`, which only the client can answer.
    Input,
    /// `${file:/path}`: the content of a file.
    File,
}

pub(super) const NONE: &[Form] = &[];
pub(super) const BRACED: &[Form] = &[Form::Braced];
pub(super) const BARE: &[Form] = &[Form::Braced, Form::Bare];
pub(super) const EDITOR: &[Form] = &[Form::Env, Form::Folder];
pub(super) const VSCODE: &[Form] = &[Form::Env, Form::Folder, Form::Input];
pub(super) const WINDSURF: &[Form] = &[Form::Env, Form::File];
pub(super) const ANY: &[Form] = &[Form::Env, Form::Folder, Form::Input, Form::File, Form::Braced];

/// One variable, as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reference<'t> {
    /// An environment variable, and what to use when it is unset or empty.
    Env { name: &'t str, default: Option<&'t str> },
    /// A place: `workspaceFolder`, `userHome`, …
    Folder(&'t str),
    /// A value that the client would ask for.
    Input(&'t str),
    /// The content of a file.
    File(&'t str),
    /// Something that only the client itself can answer.
    Foreign(&'t str),
}

const FOLDERS: &[&str] =
    &["workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator", "/"];

/// Replaces every variable of the known forms. What a value holds is not looked at again.
pub(super) fn expand<E>(
    text: &str,
    forms: &[Form],
    mut value: impl FnMut(Reference<'_>) -> Result<String, E>,
) -> Result<String, E> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        expanded.push_str(&rest[..at]);
        rest = &rest[at..];
        match next(rest, forms) {
            Some((reference, length)) => {
                expanded.push_str(&value(reference)?);
                rest = &rest[length..];
            }
            None => {
                expanded.push('$');
                rest = &rest[1..];
            }
        }
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// The same for `${VAR}` and `${VAR:-default}` alone: `value` is told the name and the default.
pub(crate) fn expand_braced<E>(
    text: &str,
    mut value: impl FnMut(&str, Option<&str>) -> Result<String, E>,
) -> Result<String, E> {
    expand(text, BRACED, |reference| match reference {
        Reference::Env { name, default } => value(name, default),
        Reference::Folder(text)
        | Reference::Input(text)
        | Reference::File(text)
        | Reference::Foreign(text) => Ok(text.to_owned()),
    })
}

/// The variable at the beginning of the text, which begins with a dollar, and its length.
fn next<'t>(text: &'t str, forms: &[Form]) -> Option<(Reference<'t>, usize)> {
    if let Some(braced) = text.strip_prefix("${") {
        let end = braced.find('}')?;
        return Some((braced_reference(&braced[..end], forms)?, end + 3));
    }
    let name = identifier(&text[1..]).filter(|_| forms.contains(&Form::Bare))?;
    Some((Reference::Env { name, default: None }, name.len() + 1))
}

fn braced_reference<'t>(inside: &'t str, forms: &[Form]) -> Option<Reference<'t>> {
    let has = |form| forms.contains(&form);
    if FOLDERS.contains(&inside) {
        return has(Form::Folder).then_some(Reference::Folder(inside));
    }
    if let Some((kind, name)) = inside.split_once(':').filter(|(_, name)| !name.starts_with('-')) {
        return match kind {
            "env" if has(Form::Env) => Some(Reference::Env { name, default: None }),
            "input" if has(Form::Input) => Some(Reference::Input(name)),
            "file" if has(Form::File) => Some(Reference::File(name)),
            "workspaceFolder" if has(Form::Folder) => Some(Reference::Folder(kind)),
            "config" | "command" if has(Form::Input) => Some(Reference::Foreign(inside)),
            _ => None,
        };
    }
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    let is_name = identifier(name) == Some(name);
    (has(Form::Braced) && is_name).then_some(Reference::Env { name, default })
}

/// The name at the beginning of the text.
fn identifier(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let name = &text[..end];
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn show(text: &str, forms: &[Form]) -> String {
        expand::<()>(text, forms, |reference| Ok(format!("<{reference:?}>"))).unwrap()
    }

    fn env(name: &str, default: Option<&str>) -> String {
        format!("<{:?}>", Reference::Env { name, default })
    }

    #[test]
    fn each_client_knows_its_own_forms_and_leaves_the_others() {
        assert_eq!(show("a${B}c", BRACED), format!("a{}c", env("B", None)));
        assert_eq!(show("${B:-x:y}", BRACED), env("B", Some("x:y")));
        assert_eq!(show("$B ${env:B} ${1} ${} $", BRACED), "$B ${env:B} ${1} ${} $");
        assert_eq!(show("$B/${C}$", BARE), format!("{}/{}$", env("B", None), env("C", None)));
        assert_eq!(show("${env:B} ${B} $B", VSCODE), format!("{} ${{B}} $B", env("B", None)));
        assert_eq!(show("${input:k}${userHome}", VSCODE), "<Input(\"k\")><Folder(\"userHome\")>");
        assert_eq!(show("${config:a.b}", VSCODE), "<Foreign(\"config:a.b\")>");
        assert_eq!(show("${file:/p}", WINDSURF), "<File(\"/p\")>");
        assert_eq!(show("${A} ${env:B}", NONE), "${A} ${env:B}");
        assert_eq!(show("${unfinished", ANY), "${unfinished");
    }

    proptest! {
        #[test]
        fn text_without_variables_stays_as_it_is(text in "[^$]*") {
            prop_assert_eq!(show(&text, ANY), text);
        }

        #[test]
        fn no_text_panics(text in "([$]|[{]|[}]|:|-|\\PC){0,12}") {
            for forms in [NONE, BRACED, BARE, VSCODE, WINDSURF, ANY] {
                let _ = show(&text, forms);
            }
        }
    }

    #[test]
    fn a_form_that_a_client_does_not_know_stays_as_it_stands() {
        let folder = "<Folder(\"workspaceFolder\")>";
        for (text, forms, known) in [
            ("${env:B}", EDITOR, env("B", None)),
            ("${input:k}", VSCODE, "<Input(\"k\")>".to_owned()),
            ("${file:/p}", WINDSURF, "<File(\"/p\")>".to_owned()),
            ("${workspaceFolder}", EDITOR, folder.to_owned()),
            ("${workspaceFolder:app}", EDITOR, folder.to_owned()),
            ("${config:a}", VSCODE, "<Foreign(\"config:a\")>".to_owned()),
            ("${command:a}", VSCODE, "<Foreign(\"command:a\")>".to_owned()),
            ("${other:a}", ANY, "${other:a}".to_owned()),
            ("${A_1}", BRACED, env("A_1", None)),
            ("${A-1}", BRACED, "${A-1}".to_owned()),
            ("$A_1-", BARE, format!("{}-", env("A_1", None))),
        ] {
            assert_eq!(show(text, forms), known, "{text}");
            assert_eq!(show(text, NONE), text, "{text}");
        }
    }
}
