//! The flags of a server once more, for the command that shows a finding again.

use mcp_loadtest_core::{
    secrets::{MASK, names_a_secret},
    server::{Server, shell_word},
};

use super::ServerArgs;

impl ServerArgs {
    /// What names the server on a command line, as it was given, with masks in place of what may be
    /// secret: who has the command must bring the secrets.
    pub(crate) fn again(&self, server: &Server) -> String {
        let mut flags = match &self.name {
            Some(name) => vec![format!("--name {}", shell_word(name))],
            None => vec![server.as_flags()],
        };
        let mut add = |flag: &str, value: &str| flags.push(format!("{flag} {}", shell_word(value)));
        if let Some(file) = &self.mcp_config {
            add("--mcp-config", &file.display().to_string());
        }
        for (id, _) in self.inputs.iter().filter_map(|input| input.split_once('=')) {
            add("--input", &format!("{id}={MASK}"));
        }
        if let Some(transport) = self.transport {
            add("--transport", transport.as_str());
        }
        for (name, _) in self.headers.iter().filter_map(|header| header.split_once(':')) {
            add("--header", &format!("{name}: {MASK}"));
        }
        for (name, value) in self.env.iter().filter_map(|variable| variable.split_once('=')) {
            let value = if names_a_secret(name) { MASK } else { value };
            add("--env", &format!("{name}={value}"));
        }
        if let Some(dir) = &self.working_dir {
            add("--working-dir", &dir.display().to_string());
        }
        if let Some(protocol) = self.protocol {
            add("--protocol", &protocol.to_string());
        }
        if let Some(file) = &self.ca_cert {
            add("--ca-cert", &file.display().to_string());
        }
        if self.inherit_env {
            flags.push("--inherit-env".into());
        }
        flags.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn flags_are_given_again_without_secrets() {
        let server = Server::stdio("python").args(["shop.py"]).build();
        let named = ServerArgs { name: Some("my shop".into()), ..ServerArgs::default() };
        assert_eq!(named.again(&server), "--name 'my shop'");
        let named = ServerArgs {
            mcp_config: Some("a.json".into()),
            inputs: words(&["key=s3cr3t"]),
            ..named
        };
        let again = "--name 'my shop' --mcp-config a.json --input 'key=***'";
        assert_eq!(named.again(&server), again);

        let started = ServerArgs {
            server: words(&["python shop.py"]),
            env: words(&["LOG=debug", "API_TOKEN=s3cr3t"]),
            working_dir: Some("/srv".into()),
            inherit_env: true,
            ..ServerArgs::default()
        };
        let again = "-s 'python shop.py' --env LOG=debug --env 'API_TOKEN=***' --working-dir /srv \
                     --inherit-env";
        assert_eq!(started.again(&server), again);

        let server = Server::http("http://h/mcp").header("Authorization", "s3cr3t").build();
        let reached =
            ServerArgs { headers: words(&["Authorization: s3cr3t"]), ..ServerArgs::default() };
        let again = "--url http://h/mcp --header 'Authorization: ***'";
        assert_eq!(reached.again(&server), again);
    }
}
