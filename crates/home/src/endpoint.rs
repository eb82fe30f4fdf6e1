//! Where the house is and how its certificate is trusted, parsed once.
//!
//! Start at [`Endpoint::parse`]. Invariant: websocket and REST use one TLS configuration, and a
//! [`Token`] is never shown, not by `Debug` either.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reqwest::Url;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use crate::error::{Cause, ErrorCode, HouseError};

/// A secret that is used and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Arc<str>);

impl Token {
    pub fn new(text: &str) -> Self {
        Self(text.trim().into())
    }

    /// The secret itself. Only for putting it on the wire.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// Whose certificates are believed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Tls {
    /// Those of the operating system.
    #[default]
    SystemRoots,
    /// Those of the operating system and of this PEM file.
    CaFile(PathBuf),
    /// Anybody's. Only for a house on a network that is trusted as a whole.
    Insecure,
}

/// The address of one house.
#[derive(Clone)]
pub struct Endpoint {
    base: Url,
    tls: Arc<ClientConfig>,
}

impl Endpoint {
    /// `http://host:8123`, `https://host/prefix`, or a bare `host:port`, which means https.
    pub fn parse(text: &str, tls: Tls) -> Result<Self, HouseError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(HouseError::new(ErrorCode::BadUrl, Cause::Missing, ""));
        }
        let bad = |why: String| HouseError::new(ErrorCode::BadUrl, Cause::Malformed, why);
        let full = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
        let shown = without_secrets(text);
        let base = Url::parse(&full).map_err(|error| bad(format!("`{shown}` ({error})")))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(bad(format!("`{}` is neither http nor https", base.scheme())));
        }
        if base.host_str().is_none_or(str::is_empty) {
            return Err(bad(format!("`{shown}` names no host")));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(bad("it holds a user name or password; the token belongs in its own setting".into()));
        }
        if base.query().is_some() || base.fragment().is_some() {
            return Err(bad(format!("`{shown}` has a query or fragment")));
        }
        let tls = Arc::new(client_config(base.scheme() == "https", &tls)?);
        Ok(Self { base, tls })
    }

    /// `path` below the house's address, prefix kept: `http_url("/api/")`.
    pub fn http_url(&self, path: &str) -> String {
        format!("{}/{}", self.base.as_str().trim_end_matches('/'), path.trim_start_matches('/'))
    }

    /// The address without path, for messages.
    pub fn origin(&self) -> String {
        self.base.origin().ascii_serialization()
    }

    pub(crate) fn websocket_url(&self) -> String {
        self.http_url("/api/websocket").replacen("http", "ws", 1)
    }

    pub(crate) fn secure(&self) -> bool {
        self.base.scheme() == "https"
    }

    /// Host as it stands in a certificate, without the brackets of an IPv6 address.
    pub(crate) fn host(&self) -> &str {
        self.base.host_str().unwrap_or_default().trim_matches(['[', ']'])
    }

    pub(crate) fn port(&self) -> u16 {
        self.base.port_or_known_default().unwrap_or(8123)
    }

    pub(crate) fn tls(&self) -> Arc<ClientConfig> {
        self.tls.clone()
    }

    /// An HTTP client for the house's REST side, with the same trust.
    pub fn http_client(&self) -> Result<reqwest::Client, HouseError> {
        self.client(|builder| builder.timeout(std::time::Duration::from_secs(10)))
    }

    /// The same for answers that come bit by bit: whoever reads them sets the deadline.
    pub fn stream_client(&self) -> Result<reqwest::Client, HouseError> {
        self.client(|builder| builder)
    }

    fn client(
        &self,
        with: impl FnOnce(reqwest::ClientBuilder) -> reqwest::ClientBuilder,
    ) -> Result<reqwest::Client, HouseError> {
        let builder = reqwest::Client::builder()
            .tls_backend_preconfigured(ClientConfig::clone(&self.tls))
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .connect_timeout(std::time::Duration::from_secs(5));
        with(builder).build().map_err(|error| HouseError::unreachable(Cause::Tls, error.to_string()))
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({})", self.base)
    }
}

/// An address as it may be shown: without user, password, query and fragment.
pub fn without_secrets(text: &str) -> String {
    let plain = text.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = plain.split_once("://").map_or(("", plain), |(scheme, rest)| (scheme, rest));
    // A password may hold a slash that nobody wrote as it should be.
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    if scheme.is_empty() { host.to_owned() } else { format!("{scheme}://{host}") }
}

/// Reading the system's roots takes tens of milliseconds, so plain http goes without.
fn client_config(secure: bool, tls: &Tls) -> Result<ClientConfig, HouseError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| HouseError::unreachable(Cause::Tls, error.to_string()))?;
    let roots = match tls {
        Tls::Insecure => {
            return Ok(builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
                .with_no_client_auth());
        }
        _ if !secure => RootCertStore::empty(),
        Tls::SystemRoots => system_roots(),
        Tls::CaFile(path) => {
            let mut roots = system_roots();
            add_file(&mut roots, path)?;
            roots
        }
    };
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::debug!(%error, "a system certificate cannot be read");
    }
    roots.add_parsable_certificates(found.certs);
    roots
}

fn add_file(roots: &mut RootCertStore, path: &Path) -> Result<(), HouseError> {
    let bad = |why: String| HouseError::unreachable(Cause::Tls, format!("CA file {}: {why}", path.display()));
    let mut count = 0;
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| bad(error.to_string()))? {
        let certificate = certificate.map_err(|error| bad(error.to_string()))?;
        roots.add(certificate).map_err(|error| bad(error.to_string()))?;
        count += 1;
    }
    if count == 0 { Err(bad("holds no certificate".into())) } else { Ok(()) }
}

/// The explicit "insecure": signatures are checked, who signed is not.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, websocket: &str) {
        let endpoint = Endpoint::parse(text, Tls::Insecure).unwrap();
        assert_eq!(endpoint.websocket_url(), websocket);
    }

    #[test]
    fn an_address_is_shown_without_what_may_be_a_secret() {
        for text in [
            "http://user:SECRET@house:8123",
            "http://house:8123?token=SECRET",
            "http://house:8123#SECRET",
            "user:SECRET@house:8123",
            "http://user:SEC/SECRET@house:8123",
        ] {
            let shown = without_secrets(text);
            assert!(shown.ends_with("house:8123") && !shown.contains("SECRET"), "{text}: {shown}");
            let error = Endpoint::parse(text, Tls::SystemRoots).unwrap_err();
            assert!(!error.message.contains("SECRET"), "{text}: {error}");
        }
    }

    #[test]
    fn a_scheme_is_optional_and_a_prefix_is_kept() {
        check("http://127.0.0.1:8123", "ws://127.0.0.1:8123/api/websocket");
        check(" https://ha.example/house/ ", "wss://ha.example/house/api/websocket");
        check("homeassistant.local:8123", "wss://homeassistant.local:8123/api/websocket");
        check("http://[::1]:8123", "ws://[::1]:8123/api/websocket");
        assert_eq!(Endpoint::parse("http://[::1]:8123", Tls::Insecure).unwrap().host(), "::1");
    }

    #[test]
    fn an_address_that_is_none_is_refused_with_what_to_do() {
        for text in ["", "ftp://x", "http://", "http://user:secret@x", "http://x/?token=1", "http://x:99999"] {
            let error = Endpoint::parse(text, Tls::Insecure).unwrap_err();
            assert_eq!(error.code, ErrorCode::BadUrl, "{text}");
            assert!(!error.message.contains("secret"), "{text}");
        }
    }

    #[test]
    fn a_missing_ca_file_is_named() {
        let error = Endpoint::parse("https://x", Tls::CaFile("/nowhere.pem".into())).unwrap_err();
        assert!(error.is(Cause::Tls));
        assert!(error.message.contains("/nowhere.pem"), "{error}");
    }

    #[test]
    fn a_token_is_never_shown() {
        assert_eq!(format!("{0:?} {0}", Token::new("abc")), "Token(…) …");
    }
}
