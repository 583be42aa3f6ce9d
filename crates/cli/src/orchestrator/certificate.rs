//! Creates a private authority and one certificate that it signs, for operators that have none. The authority's key is
//! discarded, so it can never sign another certificate.

use crate::failure::Failure;
use crate::fleet::{failed, secret_file};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use std::path::{Path, PathBuf};

/// Names within the directory.
pub(super) const CERTIFICATE: &str = "tls.pem";
pub(super) const KEY: &str = "tls.key";
const AUTHORITY: &str = "ca.pem";

/// Writes all three, and says where the authority's certificate is.
pub(super) fn make(directory: &Path, names: &[String]) -> Result<PathBuf, Failure> {
    let mut authority = CertificateParams::new(vec![]).map_err(failed)?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.distinguished_name.push(DnType::CommonName, format!("remuda fleet {}", names[0]));
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().map_err(failed)?);
    let authority = authority.map_err(failed)?;
    let key = KeyPair::generate().map_err(failed)?;
    let mut certificate = CertificateParams::new(names.to_vec())
        .map_err(|_| Failure::Usage("--tls-name is a host name or an IP address"))?;
    certificate.distinguished_name.push(DnType::CommonName, names[0].clone());
    let certificate = certificate.signed_by(&key, &authority).map_err(failed)?;
    secret_file(&directory.join(KEY), &key.serialize_pem())?;
    secret_file(&directory.join(CERTIFICATE), &certificate.pem())?;
    let path = directory.join(AUTHORITY);
    // Every client needs it.
    std::fs::write(&path, authority.pem())
        .map_err(|source| Failure::File { path: path.clone(), source })?;
    Ok(path)
}
