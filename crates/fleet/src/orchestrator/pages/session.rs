//! Sessions of pages: a cookie that stands for a token.
//!
//! The cookie holds the token's hash and an expiry, with a MAC by a key of this process. The API does not
//! accept it, and it dies with the token and with the process.

use crate::auth::{Access, Scope, Token, TokenHash};
use crate::time::Millis;
use axum::http::{HeaderMap, header};
use data_encoding::HEXLOWER;
use ring::hmac;
use ring::rand::SystemRandom;
use std::time::Duration;

const NAME: &str = "remuda_fleet";
const LIFE: Duration = Duration::from_secs(12 * 60 * 60);

/// The key of cookies.
#[derive(Debug)]
pub(super) struct Sessions(hmac::Key);

impl Default for Sessions {
    fn default() -> Self {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new());
        Self(key.expect("the system has randomness"))
    }
}

impl Sessions {
    /// `Set-Cookie` of a login. `secure`: the request came over TLS.
    pub(super) fn cookie(&self, now: Millis, token: &Token, secure: bool) -> String {
        let until = now.0.saturating_add(LIFE.as_millis() as u64);
        let text = format!("{}.{until}", token.sha256);
        let seal = HEXLOWER.encode(hmac::sign(&self.0, text.as_bytes()).as_ref());
        let secure = if secure { "; Secure" } else { "" };
        let life = LIFE.as_secs();
        format!("{NAME}={text}.{seal}; Path=/; HttpOnly; SameSite=Lax; Max-Age={life}{secure}")
    }

    /// `Set-Cookie` of a logout.
    pub(super) fn no_cookie() -> String {
        format!("{NAME}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0")
    }

    /// The name of the token behind a valid cookie, if it may view.
    pub(super) fn allows(
        &self,
        now: Millis,
        headers: &HeaderMap,
        access: &Access,
    ) -> Option<String> {
        cookies(headers).find_map(|cookie| self.open(now, cookie, access))
    }

    fn open(&self, now: Millis, cookie: &str, access: &Access) -> Option<String> {
        let (text, seal) = cookie.rsplit_once('.')?;
        let seal = HEXLOWER.decode(seal.as_bytes()).ok()?;
        hmac::verify(&self.0, text.as_bytes(), &seal).ok()?;
        let (hash, until) = text.split_once('.')?;
        let hash = TokenHash::new(hash).ok()?;
        let token = access.0.iter().find(|token| token.sha256 == hash)?;
        let fresh = now.0 < until.parse().ok()?;
        (fresh && token.scope.allows(Scope::Viewer)).then(|| token.name.clone())
    }
}

/// Values of all session cookies.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let all = headers.get_all(header::COOKIE).into_iter();
    all.filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().strip_prefix(NAME)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn shown(cookie: &str) -> HeaderMap {
        let pair = format!("other=1; {}", cookie.split(';').next().unwrap_or_default());
        let value = HeaderValue::from_str(&pair).expect("a header");
        HeaderMap::from_iter([(header::COOKIE, value)])
    }

    #[test]
    fn a_cookie_lets_in_until_it_or_its_token_ends_and_cannot_be_made_up() {
        let token = |scope| Token::new("t", scope, TokenHash::of("t"));
        let (sessions, now) = (Sessions::default(), Millis(1_000));
        let access = Access(vec![token(Scope::Viewer)]);
        let cookie = sessions.cookie(now, &access.0[0], false);
        assert_eq!(sessions.allows(now, &shown(&cookie), &access).as_deref(), Some("t"));
        assert_eq!(sessions.allows(Millis(u64::MAX), &shown(&cookie), &access), None);
        assert_eq!(sessions.allows(now, &shown(&cookie), &Access::default()), None);
        assert_eq!(sessions.allows(now, &shown(&cookie), &Access(vec![token(Scope::Enrol)])), None);
        assert_eq!(sessions.allows(now, &HeaderMap::new(), &access), None);
        let longer = cookie.replacen(".4", ".9", 1);
        assert_ne!(longer, cookie);
        assert_eq!(sessions.allows(now, &shown(&longer), &access), None);
        assert_eq!(Sessions::default().allows(now, &shown(&cookie), &access), None);
    }
}
