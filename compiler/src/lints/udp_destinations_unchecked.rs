//! `udp-destinations-unchecked`
use super::rule::{Lint, rule};
use crate::{
    analysis::{decided, witness::Witness},
    finding::Finding,
    policy::Policy,
    program::{
        acl::{Ace, AceId, Operation},
        service::{Service, ServiceKind},
    },
    sources::Loc,
    table::Fields,
};

rule! {
    /// `-U0` or `-U1` lets a UDP association go to what the list denies: only its first destination is judged.
    ///
    /// A SOCKS client that asks for UDP names a destination in each datagram. With these options the list is asked about the first; whatever
    /// follows goes out. So a client that may send to one destination may send to all.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * 127.0.0.0/8
    /// allow * 10.0.0.0/8
    /// socks -i10.0.0.1 -U0
    /// ```
    ///
    /// Without the option each destination is judged; `-U2` judges each, too, but does not log it:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * * 127.0.0.0/8
    /// allow * 10.0.0.0/8
    /// socks -i10.0.0.1 -U2
    /// ```
    ///
    /// A list that does not look at destinations judges all of them alike:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// socks -i10.0.0.1 -U0
    /// ```
    "udp-destinations-unchecked",
    level: Warn,
    group: Security,
    since: "0.1.0",
    check: check,
}

/// At most this many requests are tried for an entry, at most this many entries of a list are looked at, and of all lists.
const TRIED: usize = 64;
const OF_A_LIST: usize = 64;
const ENTRIES: usize = 2_000;
/// Each destination is judged.
const JUDGED: i32 = 2;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut left = ENTRIES;
    let mut found = Vec::new();
    for (at, service) in program.services.iter().enumerate() {
        let mode = service.options.udp_auth.filter(|mode| mode.value & JUDGED == 0);
        let associates = matches!(service.kind, ServiceKind::Socks | ServiceKind::Auto);
        let (Some(option), Some(acl), true) =
            (mode.and_then(|mode| mode.at), service.asked_list(), associates)
        else {
            continue;
        };
        let entries: Vec<(AceId, &Ace)> = program.acls.entries(acl).take(left.min(OF_A_LIST)).collect();
        left -= entries.len();
        if let Some((first, next)) = both(lint.policy(), (at, service), &entries) {
            let limits = |ace: &&Ace| ace.matcher.targets.is_some() || ace.matcher.ports.is_some();
            let ace = entries.iter().map(|(_, ace)| *ace).find(limits);
            found.push(finding(option, ace, &first, &next));
        }
    }
    for finding in found {
        lint.report(finding);
    }
}

/// A destination that a client may send to, and one that the list denies to the same client.
fn both(
    policy: &Policy,
    (at, service): (usize, &Service),
    entries: &[(AceId, &Ace)],
) -> Option<(Witness, Witness)> {
    let associates = |witness: Witness| (witness.operation == Operation::UdpAssociate).then_some(witness);
    let passes = |witness: &Witness| policy.decide(at, &witness.request()).passes();
    let step = service.chain.value.first()?.kind;
    let decided: Vec<Witness> =
        entries.iter().filter_map(|(id, _)| decided::by_any_as(policy, at, *id, TRIED, associates)).collect();
    decided.iter().filter(|witness| passes(witness)).find_map(|first| {
        let elsewhere =
            |other: &Witness| Witness { target: other.target.clone(), port: other.port, ..first.clone() };
        let fields = [Fields::ADDRESS, Fields::HOST, Fields::PORT];
        let varied = fields.into_iter().flat_map(|field| first.varied(field, service, step, policy));
        let mut others = decided.iter().map(elsewhere).chain(varied);
        Some((first.clone(), others.find(|other| !passes(other))?))
    })
}

fn finding(option: Loc, ace: Option<&Ace>, first: &Witness, next: &Witness) -> Finding {
    let message = "a UDP association may go to what the list denies: only its first destination is judged";
    let finding = RULE
        .finding(option, message)
        .label("the list is not checked for the others")
        .note(format!("For example, {first} passes, and after it {next} passes, too."))
        .help("leave the option out, or write `-U2`");
    match ace {
        Some(ace) => finding.also(ace.at, "distinguishes destinations"),
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::findings;

    #[test]
    fn lists_that_tell_destinations_apart_are_found() {
        for (list, service, found) in [
            ("deny * * 127.0.0.0/8\nallow *", "socks -U0", 1),
            ("deny * * 127.0.0.0/8\nallow *", "auto -U", 1),
            ("allow * * * 53", "socks -U1", 1),
            ("allow * * 192.0.2.53", "socks -U1", 1),
            ("deny * * 127.0.0.0/8\nallow *", "socks -U2", 0),
            ("deny * * 127.0.0.0/8\nallow *", "socks -U3", 0),
            ("deny * * 127.0.0.0/8\nallow *", "socks", 0),
            ("allow *", "socks -U0", 0),
            ("deny *", "socks -U0", 0),
            // Nobody gets a UDP association.
            ("allow * * * 80 CONNECT\nallow * * * * BIND", "socks -U0", 0),
            ("allow a\nallow * * * 80 CONNECT", "socks -U0", 0),
        ] {
            let text = format!("auth iponly\n{list}\n{service} -i127.0.0.1\n");
            assert_eq!(findings("udp-destinations-unchecked", &text).len(), found, "{text}");
        }
        assert!(
            findings("udp-destinations-unchecked", "auth none\ndeny * * 127.0.0.1\nsocks -U0\n").is_empty()
        );
    }
}
