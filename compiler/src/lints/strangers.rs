//! Whom services let pass without a secret: strangers, tried by example and calculated.
use std::net::{IpAddr, Ipv4Addr};

use crate::{
    analysis::witness::{OFFICE_HOURS, Target, Witness},
    lints::Lint,
    program::{
        Program,
        acl::{AceId, Operation},
        auth::{AuthStep, AuthType},
        service::{Service, ServiceKind},
    },
    table::{Table, Verdict, WeekTime, oracle::Walk},
};

mod calculated;

pub(super) use calculated::Strangers;

/// Somebody from somewhere who may go anywhere.
#[derive(Clone, Debug)]
pub(super) struct Stranger {
    /// A request.
    pub(super) witness: Witness,
    /// The entry that lets it pass; `None`: the list is empty, or is not asked.
    pub(super) entry: Option<AceId>,
}

/// Lists that are not compiled yet are walked if the services that are asked hold at most this many times the entries that there are.
/// Of many services with long lists in common each would walk them: then it pays to compile them.
const WALKED: usize = 2;

/// Says what services' lists do with requests.
pub(super) struct Decider<'l, 'a> {
    lint: &'l Lint<'a>,
    walks: bool,
}

impl<'l, 'a> Decider<'l, 'a> {
    /// For the services of the sort `asked`.
    pub(super) fn new(lint: &'l Lint<'a>, asked: impl Fn(&Service) -> bool) -> Self {
        let acls = lint.program.services.iter().filter(|service| asked(service)).filter_map(|it| it.acl);
        let entries: usize = acls.map(|acl| acl.len as usize).sum();
        let walks = lint.compiled_policy().is_none() && entries <= WALKED * lint.program.acls.aces.len();
        Self { lint, walks }
    }

    /// The configuration.
    fn program(&self) -> &'a Program {
        self.lint.program
    }

    fn decide(&self, service: usize, witness: &Witness) -> Verdict {
        if !self.walks {
            return self.lint.policy().decide(service, &witness.request());
        }
        let program = self.program();
        let list = program.services.get(service).and_then(|service| service.acl);
        Walk { acls: &program.acls, list }.decide(&witness.request())
    }
}

/// The name that a stranger gives, or that the stranger's address has, where the type of the chain wants one. `None`: it wants a secret.
fn name(step: AuthType) -> Option<Option<&'static [u8]>> {
    match step {
        AuthType::None | AuthType::IpOnly => Some(None),
        AuthType::UserOnly | AuthType::DnsName => Some(Some(b"anyone.example.net")),
        AuthType::Strong | AuthType::Radius | AuthType::Cache | AuthType::CacheAcl => None,
    }
}

impl Strangers {
    /// The step of the chain that lets strangers pass without a secret, and one whom it does.
    pub(super) fn open<'a>(
        &mut self,
        decider: &Decider<'_, 'a>,
        at: usize,
    ) -> Option<(&'a AuthStep, Stranger)> {
        let program = decider.program();
        let service = program.services.get(at)?;
        service.chain.value.iter().find_map(|step| {
            let user = name(step.kind)?;
            if step.kind == AuthType::None {
                let from = [Ipv4Addr::new(203, 0, 113, 7).into(); MOST];
                let witness = stranger(service.kind, user, &from, |_| true)?;
                return Some((step, Stranger { witness, entry: None }));
            }
            let passes = |witness: &Witness| decider.decide(at, witness).passes();
            let sampled = stranger(service.kind, user, self.sampled(service), passes).map(|witness| {
                let entry = decider.decide(at, &witness).entry;
                Stranger { witness, entry }
            });
            sampled.or_else(|| self.find(program, service, step.kind)).map(|stranger| (step, stranger))
        })
    }
}

/// Unrelated clients: a service that one of them can't use has a list of clients.
const UNRELATED: [Ipv4Addr; 3] =
    [Ipv4Addr::new(203, 0, 113, 7), Ipv4Addr::new(94, 130, 3, 4), Ipv4Addr::new(186, 7, 7, 8)];

/// The step of the chain by which strangers may do `operation`, which has no target, without a secret, and the entry that lets them.
pub(super) fn open_without_target<'a>(
    decider: &Decider<'_, 'a>,
    at: usize,
    operation: Operation,
) -> Option<(&'a AuthStep, Option<AceId>)> {
    let [first, ..] = UNRELATED;
    let (step, entry) = open_to(decider, at, operation, first.into())?;
    let others =
        UNRELATED.iter().skip(1).all(|from| open_to(decider, at, operation, (*from).into()).is_some());
    others.then_some((step, entry))
}

/// The same for clients with one address.
pub(super) fn open_to<'a>(
    decider: &Decider<'_, 'a>,
    at: usize,
    operation: Operation,
    from: IpAddr,
) -> Option<(&'a AuthStep, Option<AceId>)> {
    let service = decider.program().services.get(at)?;
    // A question for a name comes without a user's.
    let names = |step: &&AuthStep| service.kind != ServiceKind::Dnspr || step.kind != AuthType::UserOnly;
    service.chain.value.iter().filter(names).find_map(|step| {
        let user = name(step.kind)?;
        if step.kind == AuthType::None {
            return Some((step, None));
        }
        let witness = Witness {
            user: user.map(<[u8]>::to_vec),
            source: from,
            target: Target::default(),
            port: 0,
            operation,
            time: OFFICE_HOURS,
        };
        let verdict = decider.decide(at, &witness);
        verdict.passes().then_some((step, verdict.entry))
    })
}

/// From how many of the addresses that are tried requests must pass.
const MOST: usize = 3;

/// A request of somebody from somewhere to anywhere, if such requests pass: from most of some unrelated addresses, and to each
/// of some unrelated targets, so that a list of known clients or known targets is not taken for an open door.
fn stranger(
    kind: ServiceKind,
    user: Option<&[u8]>,
    from: &[IpAddr],
    passes: impl Fn(&Witness) -> bool,
) -> Option<Witness> {
    const NIGHT: WeekTime = WeekTime { day: 0, second: 3 * 60 * 60 };
    let targets =
        [(&b"www.example.net"[..], [198, 51, 100, 80]), (&b"cdn.example.org"[..], [151, 101, 65, 140])];
    let targets =
        targets.map(|(name, address)| Target { host: Some(name.to_vec()), address: Some(address.into()) });
    for (operation, port) in attempts(kind) {
        for time in [OFFICE_HOURS, NIGHT] {
            let ask = |from: &IpAddr, target: &Target| Witness {
                user: user.map(<[u8]>::to_vec),
                source: *from,
                target: target.clone(),
                port: *port,
                operation: *operation,
                time,
            };
            let (mut open, mut closed) = (Vec::new(), 0);
            for address in from {
                if targets.iter().all(|target| passes(&ask(address, target))) {
                    open.push(address);
                } else {
                    closed += 1;
                }
                if open.len() == MOST || closed > from.len().saturating_sub(MOST) {
                    break;
                }
            }
            if let (Some(first), true) = (open.first(), open.len() == MOST) {
                return targets.first().map(|target| ask(first, target));
            }
        }
    }
    None
}

/// What is worth trying on a kind of service.
const fn attempts(kind: ServiceKind) -> &'static [(Operation, u16)] {
    use Operation::{Connect, FtpGet, HttpConnect, HttpGet};
    match kind {
        ServiceKind::Proxy => &[(HttpConnect, 443), (HttpGet, 80)],
        ServiceKind::Auto => &[(HttpConnect, 443), (Connect, 443), (HttpGet, 80)],
        ServiceKind::Ftppr => &[(Connect, 21), (FtpGet, 21)],
        ServiceKind::Pop3p => &[(Connect, 110)],
        ServiceKind::Imapp => &[(Connect, 143)],
        ServiceKind::Smtpp => &[(Connect, 25)],
        _ => &[(Connect, 443), (Connect, 80)],
    }
}
