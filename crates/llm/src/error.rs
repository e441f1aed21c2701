//! Why there is no answer, or no more of one. Each caller turns this into its own words and hints; nothing here can
//! carry a key.

mod complaint;

use std::io;
use std::time::Duration;

use thiserror::Error;

use crate::sse::TooLong;

pub(crate) use complaint::Headers;
pub use complaint::{Advice, Again, Complaint, Kind};

#[derive(Debug, Error)]
pub enum Error {
    /// The provider answered, and the answer is no: as an HTTP status, or in the middle of a stream.
    #[error(transparent)]
    Provider(Box<Complaint>),
    /// No connection, or none that lasted until the answer began.
    #[error("cannot reach {host}: {cause}")]
    Network { host: String, cause: String },
    #[error("no trusted connection to {host}: {cause}")]
    Tls { host: String, cause: String },
    /// The connection is there and nothing comes.
    #[error("nothing came for {} seconds", .0.as_secs())]
    Idle(Duration),
    /// The answer broke off.
    #[error("the connection was lost before the answer was complete")]
    Dropped,
    #[error("the answer is not what this kind of provider sends: {0}")]
    Malformed(String),
    #[error("interrupted")]
    Cancelled,
    /// A scripted provider cannot go on.
    #[error("cannot play the script: {0}")]
    Script(String),
}

impl Error {
    /// What the provider complains about, if it does.
    pub fn complaint(&self) -> Option<&Complaint> {
        if let Error::Provider(complaint) = self { Some(complaint) } else { None }
    }

    pub(crate) fn malformed(what: impl Into<String>) -> Error {
        Error::Malformed(what.into())
    }
}

impl From<TooLong> for Error {
    fn from(error: TooLong) -> Self {
        Error::Malformed(error.to_string())
    }
}

/// What an HTTP client's failure means before the answer began. `host` is the one that was to be reached.
pub(crate) fn before_the_answer(error: ureq::Error, host: &str, idle: Duration) -> Error {
    let network = |cause: String| Error::Network { host: host.to_owned(), cause };
    match error {
        ureq::Error::Timeout(ureq::Timeout::PerRead | ureq::Timeout::PerWrite) => Error::Idle(idle),
        ureq::Error::Timeout(_) => network("it does not answer in time".to_owned()),
        ureq::Error::HostNotFound => network("no such host".to_owned()),
        ureq::Error::Io(error) => match tls_cause(&error) {
            Some(cause) => Error::Tls { host: host.to_owned(), cause },
            None => network(error.to_string()),
        },
        error @ (ureq::Error::Tls(_)
        | ureq::Error::Rustls(_)
        | ureq::Error::Pem(_)
        | ureq::Error::TlsRequired) => Error::Tls { host: host.to_owned(), cause: error.to_string() },
        ureq::Error::Protocol(error) => Error::malformed(error.to_string()),
        error @ ureq::Error::LargeResponseHeader(..) => Error::malformed(error.to_string()),
        error => network(error.to_string()),
    }
}

/// The same while the answer was read.
pub(crate) fn within_the_answer(error: io::Error, host: &str, idle: Duration) -> Error {
    match before_the_answer(ureq::Error::from(error), host, idle) {
        Error::Network { .. } => Error::Dropped,
        error => error,
    }
}

/// rustls hides its reasons in an I/O error while it shakes hands.
fn tls_cause(error: &io::Error) -> Option<String> {
    let inner = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    Some(inner.to_string())
}
