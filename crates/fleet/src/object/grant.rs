//! Upload grants: a MAC over the granted values, so no state is needed.
//!
//! The key lives as long as the process. A grant from before a restart, or from another orchestrator, is
//! valid for the lease's last request, which is in its row. For an older one the worker asks again.

use crate::id::LeaseId;
use crate::message::UploadGranted;
use data_encoding::HEXLOWER;
use ring::hmac::{HMAC_SHA256, Key, sign, verify};
use ring::rand::SystemRandom;

/// Seals and verifies grants.
#[derive(Debug)]
pub struct Grants(Key);

impl Default for Grants {
    fn default() -> Self {
        Self(Key::generate(HMAC_SHA256, &SystemRandom::new()).expect("the system has randomness"))
    }
}

fn text(lease: &LeaseId, path: &str, bytes: u64) -> String {
    format!("{}\n{path}\n{bytes}", lease.as_str())
}

impl Grants {
    pub fn seal(&self, granted: UploadGranted) -> UploadGranted {
        let text = text(&granted.lease_id, &granted.path, granted.bytes);
        let proof = HEXLOWER.encode(sign(&self.0, text.as_bytes()).as_ref());
        UploadGranted { grant: Some(format!("{}-{proof}", granted.bytes)), ..granted }
    }

    /// The bytes named by a grant, unverified.
    pub fn bytes(grant: &str) -> Option<u64> {
        grant.split_once('-')?.0.parse().ok()
    }

    /// The granted bytes, if the grant is valid for this lease and path.
    pub fn open(&self, lease: &LeaseId, path: &str, grant: &str) -> Option<u64> {
        let (bytes, (_, proof)) = (Self::bytes(grant)?, grant.split_once('-')?);
        let proof = HEXLOWER.decode(proof.as_bytes()).ok()?;
        verify(&self.0, text(lease, path, bytes).as_bytes(), &proof).ok().map(|()| bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{Attempt, Fence};

    #[test]
    fn a_grant_is_for_one_lease_one_path_and_so_many_bytes() {
        let grants = Grants::default();
        let lease = LeaseId::new("lease_1").expect("an id");
        let granted = grants.seal(UploadGranted {
            lease_id: lease.clone(),
            path: "runs/a".to_owned(),
            attempt: Attempt::FIRST,
            fence: Fence(1),
            bytes: 10,
            grant: None,
            expires_seconds: 1,
        });
        let grant = granted.grant.expect("sealed");
        assert_eq!(grants.open(&lease, "runs/a", &grant), Some(10));
        assert_eq!(grants.open(&lease, "runs/b", &grant), None);
        let other = LeaseId::new("lease_2").expect("an id");
        assert_eq!(grants.open(&other, "runs/a", &grant), None);
        assert_eq!(grants.open(&lease, "runs/a", &grant.replace("10-", "11-")), None);
        assert_eq!(Grants::default().open(&lease, "runs/a", &grant), None);
    }
}
