//! Whether the addresses that services listen on and connect from are this host's.
use std::{
    collections::HashMap,
    io,
    net::{IpAddr, Ipv6Addr},
};

use compiler::{
    finding::Level,
    program::{
        acl::{ParentHost, ParentKind},
        service::{ListenAddress, Service},
    },
    sources::Loc,
};

use super::{
    checks::ADDRESS_NOT_HERE,
    examination::{Diagnosis, Examination},
};

/// What an address is for.
#[derive(Clone, Copy)]
enum Use {
    Listen,
    Connect,
    AskRadius,
}

impl Use {
    const fn fails(self) -> &'static str {
        match self {
            Self::Listen => "no service can listen on it",
            Self::Connect => "every connection from it fails",
            Self::AskRadius => "no RADIUS server can be asked from it",
        }
    }
}

pub(super) fn examine(examination: &mut Examination<'_>) {
    let mut asked: HashMap<IpAddr, ()> = HashMap::new();
    for (address, at, purpose) in addresses(examination) {
        if asked.insert(address, ()).is_some() {
            continue;
        }
        match examination.host.bind(address) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable => {
                absent(examination, address, at, purpose)
            }
            Err(error) => {
                examination.unchecked(&ADDRESS_NOT_HERE, format!("`{address}` can't be tried: {error}"))
            }
        }
    }
}

fn absent(examination: &mut Examination<'_>, address: IpAddr, at: Loc, purpose: Use) {
    let message = format!("`{address}` is not an address of this host: {}", purpose.fails());
    let length = if address.is_ipv4() { 32 } else { 128 };
    let diagnosis = Diagnosis::new(&ADDRESS_NOT_HERE, Level::Deny, at, message)
        .values("not here", "an address of an interface")
        .command(format!("ip address add {address}/{length} dev DEVICE"));
    let help = format!(
        "give the address to an interface (`ip address add {address}/{length} dev DEVICE`), or name another one"
    );
    examination.found(diagnosis.help(help));
}

/// Every address that must be this host's, and where it stands.
fn addresses(examination: &Examination<'_>) -> Vec<(IpAddr, Loc, Use)> {
    let program = examination.subject.program;
    let mut addresses = Vec::new();
    for service in &program.services {
        addresses.extend(of_service(service));
    }
    for parent in program.acls.parents.iter().filter(|parent| parent.kind == ParentKind::ExternalAddress) {
        let address = match parent.host {
            ParentHost::Address(address) => address,
            ParentHost::Prefix(network, length) => within(network, length),
            ParentHost::Name(_) | ParentHost::Unix(_) => continue,
        };
        addresses.push((address, parent.at, Use::Connect));
    }
    if let Some(radius) = &program.radius {
        let local = radius.servers.iter().filter_map(|server| server.local);
        addresses.extend(local.map(|address| (address, radius.at, Use::AskRadius)));
    }
    addresses.retain(|(address, ..)| !address.is_unspecified());
    addresses
}

/// Addresses of another network namespace can't be tried from this one.
fn of_service(service: &Service) -> Vec<(IpAddr, Loc, Use)> {
    let mut addresses = Vec::new();
    if let ListenAddress::Ip(address) = service.listen.address.value
        && service.options.listen_namespace.is_none()
    {
        addresses.push((address, service.listen.address.at.unwrap_or(service.at), Use::Listen));
    }
    if service.options.external_namespace.is_none() {
        let (v4, v6) = (service.external.v4, service.external.v6);
        addresses.push((v4.value.into(), v4.at.unwrap_or(service.at), Use::Connect));
        addresses.push((v6.value.into(), v6.at.unwrap_or(service.at), Use::Connect));
    }
    addresses
}

/// An address of the network as the random ones of `extip` are: not its first.
fn within(network: IpAddr, length: u8) -> IpAddr {
    let IpAddr::V6(network) = network else { return network };
    let host = u128::MAX.checked_shr(length.into()).unwrap_or(0);
    Ipv6Addr::from(network.to_bits() & !host | 0x5a5a_5a5a_5a5a_5a5a_5a5a_5a5a_5a5a_5a5a & host).into()
}
