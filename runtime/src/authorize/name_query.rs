//! Queries to `dnspr`: the list is told no target, as in 3proxy, and what it lets pass is judged once more by the name.
use std::net::Ipv4Addr;

use compiler::{
    chain::{self, Identity},
    code::Code,
    program::acl::Operation,
    table::Request,
};

use super::{Found, Grant, REQUEST, limit, refusal, request, walk_chain};
use crate::{
    error::Failure,
    session::{Ask, Session, TargetName},
};

/// A client that may ask for names.
#[derive(Debug)]
pub(crate) struct Asker {
    /// What the list was asked first.
    ask: Ask,
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
        Ok(Self { ask, grant, unchecked: found.last() == Some(&Ok(Identity::Unchecked)) })
    }

    /// Whether it may ask for `host`, in lower case, if the list is told it.
    ///
    /// # Errors
    /// The list says no.
    pub(crate) fn may_ask_for(&self, session: &mut Session, host: &str) -> Result<(), Failure> {
        if self.unchecked {
            return Ok(());
        }
        let first = request(session, &self.ask, "", None, self.grant.time);
        let first = Request { user: self.grant.user.as_deref(), ..first };
        let request = chain::for_name(&first, host.as_bytes());
        let verdict = session.snapshot.policy.decide(session.service.index, &request);
        let entry = verdict.entry.and_then(|entry| session.snapshot.program.acls.ace(entry));
        session.record.nolog = entry.is_some_and(|entry| entry.nolog);
        match Code::of(verdict.decision) {
            Code::PASSED => Ok(()),
            code => Err(refusal(code)),
        }
    }
}
