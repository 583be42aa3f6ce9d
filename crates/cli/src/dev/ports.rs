//! Whether the ports of a network are free.

use super::error::DevError;
use remuda_node::config::Addresses;
use std::net::TcpListener;
use std::path::Path;

/// Tries every port; all are let go again for the validators to take.
pub(super) fn check(network: &[Addresses], directory: Option<&Path>) -> Result<(), DevError> {
    for address in network.iter().flat_map(|own| [own.listen, own.api]) {
        if let Err(error) = TcpListener::bind(address) {
            let directory = directory.map(Path::to_owned);
            return Err(DevError::Port { address, error, directory });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_port_that_is_taken_is_named() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = (taken.local_addr().unwrap(), taken);
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(check(&[Addresses { listen: free, api: free }], None).is_ok());
        for (listen, api) in [(taken.0, free), (free, taken.0)] {
            let error = check(&[Addresses { listen, api }], None).unwrap_err();
            assert!(matches!(&error, DevError::Port { address, .. } if *address == taken.0));
            let words = error.to_string();
            assert!(words.contains(&taken.0.to_string()), "{words}");
            assert!(words.contains("--base-port"), "{words}");
        }
    }
}
