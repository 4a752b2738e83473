//! May it send datagrams: a UDP association is judged before a destination is known, and each destination when it is named.
//!
//! Who the client is was found out when the association was made, or is when a destination first needs it: a password is checked once.
use std::net::IpAddr;

use compiler::program::acl::Operation;

use super::{ASSOCIATION, Found, Grant, REQUEST, limit, note, resolve, walk_chain};
use crate::{
    error::Failure,
    session::{Ask, Session, TargetName},
};

/// An association that may be.
#[derive(Debug)]
pub(crate) struct Association {
    /// What was asked for: with the client's credentials, and where its datagrams come from.
    pub(crate) ask: Ask,
    found: Found,
    /// The answer for every destination, if none is compared by the list.
    settled: Option<Grant>,
}

impl Association {
    /// Whether the client may have one. Notes in the session's record what was asked for, by whom, and whether that is logged.
    ///
    /// # Errors
    /// The client may not: with the code of the chain.
    pub(crate) async fn open(session: &mut Session, ask: Ask) -> Result<Self, Failure> {
        let resolved = resolve(session, &ask.target).await;
        note(session, &ask, resolved);
        let mut found = Found::new();
        let address = resolved.filter(|address| !address.is_unspecified());
        let (grant, settled) = walk_chain(session, &ask, address, ASSOCIATION, &mut found).await?;
        if resolved.is_none() {
            return Err(Failure::UNRESOLVED);
        }
        limit(session, &ask, &grant)?;
        session.has_left()?;
        Ok(Self { ask, found, settled: settled.then_some(grant) })
    }

    /// Whether datagrams may go to `target`, which has this address. Notes in the session's record whether that is logged.
    ///
    /// # Errors
    /// They may not: with the code of the chain.
    pub(crate) async fn judge(
        &mut self,
        session: &mut Session,
        target: &TargetName,
        address: Option<IpAddr>,
        port: u16,
    ) -> Result<Grant, Failure> {
        if let Some(grant) = &self.settled {
            return Ok(Grant { address, ..grant.clone() });
        }
        let ask = self.ask(target, port);
        let judged = walk_chain(session, &ask, address, REQUEST, &mut self.found).await;
        judged.map(|(grant, _)| grant)
    }
    /// Counts the first destination where its kind is limited: what applies to it goes for the association, as in 3proxy.
    ///
    /// # Errors
    /// A limit is reached.
    pub(crate) fn limit(
        &self,
        session: &mut Session,
        grant: &Grant,
        target: &TargetName,
        port: u16,
    ) -> Result<(), Failure> {
        limit(session, &self.ask(target, port), grant)
    }

    fn ask(&self, target: &TargetName, port: u16) -> Ask {
        let credentials = self.ask.credentials.clone();
        Ask { credentials, target: target.clone(), port, operation: Operation::UdpAssociate }
    }
}
