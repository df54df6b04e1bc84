//! Whom we trust: the system's certificates, and those of a file.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use mcp_loadtest_core::hint::Hint;
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject as _},
};
use thiserror::Error;

/// Why a file with certificates cannot be used.
#[derive(Debug, Error)]
#[error("the certificates in `{}` cannot be used: {why}", path.display())]
pub struct CaCertError {
    /// Which file.
    path: PathBuf,
    /// What is wrong with it.
    why: String,
}

impl Hint for CaCertError {
    fn hint(&self) -> Option<String> {
        Some("name a PEM file that holds at least one `BEGIN CERTIFICATE`".into())
    }
}

/// Whom to trust. Cheap to clone; what is read once serves all clones.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    further: Vec<CertificateDer<'static>>,
    config: Arc<OnceLock<Arc<ClientConfig>>>,
}

impl Trust {
    /// The system's certificates (or those of `SSL_CERT_FILE`), and those of a PEM file.
    pub fn with_ca_cert(path: &Path) -> Result<Self, CaCertError> {
        let wrong = |why: String| CaCertError { path: path.to_owned(), why };
        let text = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
        let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
        let further = read.map_err(|error| wrong(error.to_string()))?;
        if further.is_empty() {
            return Err(wrong("it holds none".into()));
        }
        let mut roots = RootCertStore::empty();
        for certificate in &further {
            roots.add(certificate.clone()).map_err(|error| wrong(error.to_string()))?;
        }
        Ok(Self { further, config: Arc::default() })
    }

    /// How TLS is spoken: HTTP/1.1 only.
    pub(crate) fn config(&self) -> io::Result<Arc<ClientConfig>> {
        if let Some(config) = self.config.get() {
            return Ok(config.clone());
        }
        let mut roots = RootCertStore::empty();
        for certificate in rustls_native_certs::load_native_certs().certs {
            // A certificate that rustls cannot read is one that no server will be trusted by.
            let _ = roots.add(certificate);
        }
        for certificate in &self.further {
            let _ = roots.add(certificate.clone());
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(self.config.get_or_init(|| Arc::new(config)).clone())
    }
}
