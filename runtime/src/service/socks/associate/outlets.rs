//! The sockets that the datagrams of an association leave by.
//!
//! There is one for each family, whatever the number of destinations, and one more for an entry with parents: a parent is left when a
//! datagram goes another way, as in 3proxy.
use std::{
    net::{IpAddr, SocketAddr},
    task::{Context, Poll},
    time::Duration,
};

use compiler::{program::acl::AceId, table::Decision};
use tokio::time::Instant;

use crate::{
    authorize::{self, Grant},
    datagram::Outlet,
    error::Failure,
    session::{Credentials, Session},
    socket,
};

/// How long nobody tries again after a way could not be opened: datagrams may come faster than a parent can refuse.
const PAUSE: Duration = Duration::from_secs(1);

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Outlets {
    v4: Option<Outlet>,
    v6: Option<Outlet>,
    led: Option<Led>,
    failed: Option<Failed>,
}

/// The way that an entry's parents, or its `extip`, lead.
#[derive(Debug)]
struct Led {
    by: Option<AceId>,
    outlet: Outlet,
    hops: u32,
}

/// A way that could not be opened.
#[derive(Clone, Copy, Debug)]
struct Failed {
    by: Way,
    code: u16,
    until: Instant,
}

/// Which way a datagram goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    V4,
    V6,
    Led(Option<AceId>),
    /// The name does not resolve, and no parent is asked.
    Nowhere,
}

impl Way {
    const fn of(grant: &Grant) -> Self {
        match (grant.verdict.decision, grant.address) {
            (Decision::Redirect, _) => Self::Led(grant.verdict.entry),
            (_, Some(IpAddr::V4(_))) => Self::V4,
            (_, Some(IpAddr::V6(_))) => Self::V6,
            (_, None) => Self::Nowhere,
        }
    }
}

impl Outlets {
    /// The open one for a datagram that passed, and how many parents it leads through.
    pub(super) fn get(&self, grant: &Grant) -> Option<(&Outlet, u32)> {
        match Way::of(grant) {
            Way::V4 => self.v4.as_ref().map(|outlet| (outlet, 0)),
            Way::V6 => self.v6.as_ref().map(|outlet| (outlet, 0)),
            Way::Led(by) => {
                let reaches = |outlet: &Outlet| {
                    let family = grant.address.map(|address| address.is_ipv4());
                    outlet.parent.is_some() || family == Some(outlet.external.is_ipv4())
                };
                let led = self.led.as_ref().filter(|led| led.by == by && reaches(&led.outlet));
                led.map(|led| (&led.outlet, led.hops))
            }
            Way::Nowhere => None,
        }
    }

    /// Opens the one for a datagram to `target` that passed.
    ///
    /// # Errors
    /// It can't be opened. It is remembered for a while.
    pub(super) async fn open(
        &mut self,
        session: &mut Session,
        credentials: Option<&Credentials>,
        grant: &Grant,
        target: SocketAddr,
    ) -> Result<(), Failure> {
        let by = Way::of(grant);
        match authorize::associate(session, credentials, grant, target).await {
            Ok(outlet) => match by {
                Way::V4 => self.v4 = Some(outlet),
                Way::V6 | Way::Nowhere => self.v6 = Some(outlet),
                Way::Led(by) => self.led = Some(Led { by, outlet, hops: session.record.hops }),
            },
            Err(failure) => {
                self.failed = Some(Failed { by, code: failure.code, until: Instant::now() + PAUSE });
                return Err(failure);
            }
        }
        self.failed = None;
        Ok(())
    }

    /// With which code the one for this datagram could not be opened just now.
    pub(super) fn failed(&self, grant: &Grant) -> Option<u16> {
        let failed = self.failed.filter(|failed| failed.by == Way::of(grant));
        failed.filter(|failed| Instant::now() < failed.until).map(|failed| failed.code)
    }

    /// Leaves a parent that this datagram does not go through.
    pub(super) fn leave(&mut self, grant: &Grant) {
        if !matches!(Way::of(grant), Way::Led(_)) {
            self.led = None;
        }
    }

    /// Whether datagrams go through a parent now.
    pub(super) fn is_through_parent(&self) -> bool {
        self.led.as_ref().is_some_and(|led| led.outlet.parent.is_some())
    }

    /// Ready when the parent has gone: it has nothing else to say.
    pub(super) fn poll_parent(&self, cx: &mut Context<'_>) -> Poll<()> {
        match self.led.as_ref().and_then(|led| led.outlet.parent.as_ref()) {
            Some(parent) => socket::poll_stirs(parent, cx),
            None => Poll::Pending,
        }
    }

    /// Those that are open.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Outlet> {
        let led = self.led.as_ref().map(|led| &led.outlet);
        [self.v4.as_ref(), self.v6.as_ref(), led].into_iter().flatten()
    }
}
