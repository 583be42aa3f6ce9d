//! A server that is asked over TLS, as one on another machine is.

use super::Server;
use crate::parts::support::own_address;
use remuda_fleet::lease::Policy;
use remuda_fleet::store::{Postgres, Time};
use remuda_fleet::time::Millis;
use std::os::unix::fs::PermissionsExt as _;

#[tokio::test]
async fn a_server_is_asked_over_tls_and_its_certificate_is_verified() {
    let address = own_address().to_string();
    let mut server = Server::made("postgres-tls", false);
    let made = rcgen::generate_simple_self_signed([address.clone()]).expect("a certificate");
    let certificate = server.folder.write("tls.pem", &made.cert.pem());
    let key = server.folder.write("tls.key", &made.signing_key.serialize_pem());
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).expect("set");
    server.settings = vec![
        format!("listen_addresses={address}"),
        "ssl=on".to_owned(),
        format!("ssl_cert_file={}", certificate.display()),
        format!("ssl_key_file={}", key.display()),
    ];
    server.run();
    let url = format!("postgres://fleet@{address}:5432/postgres?sslmode=verify-full");
    let open =
        async |url: &str| Postgres::open(url, Policy::default(), Time::Database, Millis(0)).await;
    let stranger = open(&url).await.expect_err("an unknown authority").to_string();
    assert!(stranger.contains("sslrootcert"), "{stranger}");
    server.url = format!("{url}&sslrootcert={}", certificate.display());
    open(&server.url).await.expect("a store").close().await;
    let mut sql = server.sql().await;
    let encrypted = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let encrypted: bool = sqlx::query_scalar(encrypted).fetch_one(&mut sql).await.expect("sql");
    assert!(encrypted);
}
