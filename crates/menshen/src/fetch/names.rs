//! From names to addresses. Start at [`Names`]. Invariant: a name is looked up here once per request and
//! nowhere else, so that nothing can mean another address later.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use sdk::{BoxFuture, Failure, FailureKind};
use tokio::net::{UdpSocket, lookup_host};
use tokio::time::timeout;

/// A look-up that takes longer is given up.
const LOOK_UP_MAX: Duration = Duration::from_secs(5);

pub trait Names: Send + Sync {
    /// All addresses of a host, which may be an address itself.
    fn addresses<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, Failure>>;
    /// Addresses of this machine as the outside sees them.
    fn own(&self) -> BoxFuture<'_, Vec<IpAddr>>;
    /// Whether an address may be connected to.
    fn is_outside(&self, address: IpAddr) -> bool {
        decide::web::is_public(address)
    }
}

/// The system's own resolver.
pub struct SystemNames;

impl Names for SystemNames {
    fn addresses<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, Failure>> {
        Box::pin(async move {
            if let Ok(address) = host.parse() {
                return Ok(vec![address]);
            }
            let unknown = |kind, why: &str| Failure::new(kind, format!("{}: {why}", decide::text::clean(host, 100)));
            match timeout(LOOK_UP_MAX, lookup_host((host, 0))).await {
                Ok(Ok(found)) => {
                    let mut addresses: Vec<IpAddr> = found.map(|address| address.ip()).collect();
                    addresses.sort_unstable();
                    addresses.dedup();
                    Ok(addresses)
                }
                Ok(Err(_)) => Err(unknown(FailureKind::Unavailable, "there is no such name: check the spelling")),
                Err(_) => Err(unknown(FailureKind::Timeout, "the name could not be looked up in time: try later")),
            }
        })
    }

    fn own(&self) -> BoxFuture<'_, Vec<IpAddr>> {
        Box::pin(async { outgoing().await.into_iter().collect() })
    }
}

/// The address that this machine would use towards the public IPv6 network. Nothing is sent for it.
async fn outgoing() -> Option<IpAddr> {
    const SOMEWHERE: Ipv6Addr = Ipv6Addr::new(0x2001, 0x4860, 0x4860, 0, 0, 0, 0, 0x8888);
    let socket = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).await.ok()?;
    socket.connect(SocketAddr::from((SOMEWHERE, 443))).await.ok()?;
    socket.local_addr().ok().map(|address| address.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_address_is_its_own_name_and_local_names_are_inside() {
        let found = SystemNames.addresses("8.8.8.8").await.unwrap();
        assert_eq!(found, ["8.8.8.8".parse::<IpAddr>().unwrap()]);
        let local = SystemNames.addresses("localhost").await.unwrap();
        assert!(!local.is_empty() && local.iter().all(|address| !SystemNames.is_outside(*address)));
    }
}
