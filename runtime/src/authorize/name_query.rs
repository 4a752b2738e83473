//! Queries to `dnspr`: the list is told no target, as in 3proxy, and what it lets pass is judged once more by the name.
use std::net::Ipv4Addr;

use compiler::{
    chain::Identity,
    program::acl::Operation,
    table::{Decision, Request},
};

use super::{Found, Grant, REQUEST, limit, refusal, walk_chain};
use crate::{
    error::Failure,
    session::{Ask, Session, TargetName},
};

/// The port of name servers.
const DNS: u16 = 53;

/// A client that may ask for names.
#[derive(Debug)]
pub(crate) struct Asker {
    grant: Grant,
    /// The list is not asked.
    unchecked: bool,
}

impl Asker {
    /// Whether the client may ask at all.
    ///
    /// # Errors
    /// Why not.
    pub(crate) async fn admit(session: &mut Session) -> Result<Self, Failure> {
        let nothing = TargetName::Address(Ipv4Addr::UNSPECIFIED.into());
        let ask = Ask { credentials: None, target: nothing, port: 0, operation: Operation::DnsResolve };
        let mut found = Found::new();
        let (grant, _) = walk_chain(session, &ask, None, REQUEST, &mut found).await?;
        limit(session, &ask, &grant)?;
        Ok(Self { grant, unchecked: found.last() == Some(&Ok(Identity::Unchecked)) })
    }

    /// Whether it may ask for `host`, in lower case, if the list is told it.
    ///
    /// # Errors
    /// The list says no.
    pub(crate) fn may_ask_for(&self, session: &mut Session, host: &str) -> Result<(), Failure> {
        if self.unchecked {
            return Ok(());
        }
        let request = Request {
            user: self.grant.user.as_deref(),
            source: session.client.ip(),
            host: Some(host.as_bytes()),
            address: None,
            port: DNS,
            operation: Operation::DnsResolve,
            time: self.grant.time,
            weight: 0,
            redirected: false,
        };
        let verdict = session.snapshot.policy.decide(session.service.index, &request);
        let entry = verdict.entry.and_then(|entry| session.snapshot.program.acls.ace(entry));
        session.record.nolog = entry.is_some_and(|entry| entry.nolog);
        match verdict.decision {
            Decision::Allow | Decision::Redirect => Ok(()),
            Decision::Deny => Err(refusal(1)),
            Decision::End => Err(refusal(3)),
        }
    }
}
