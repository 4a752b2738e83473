//! What the kernel's network settings make of the load: queues, buffers, connection tracking.
use std::collections::HashMap;

use compiler::finding::Level;

use super::{
    checks::{CONNECTION_TRACKING, LISTEN_DROPS, LISTEN_QUEUE, SOCKET_MEMORY, SYN_COOKIES},
    examination::{Diagnosis, Examination},
    load::Demand,
};

/// What the buffers of a socket need that carries something, in bytes: less, and throughput breaks down.
const SOCKET: u64 = 8 * 1024;
/// The longest that an idle connection should be tracked, in seconds: the kernel's default is five days.
const TRACKED: u64 = 86_400;

/// One of this many connections may be dropped.
const DROPPED: u64 = 10_000;

pub(super) fn examine(examination: &mut Examination<'_>) {
    listen_queue(examination);
    listen_drops(examination);
    syn_cookies(examination);
    socket_memory(examination);
    connection_tracking(examination);
}

fn connections(demand: &Demand) -> u64 {
    demand.connections
}

fn listen_queue(examination: &mut Examination<'_>) {
    for (name, what) in [("net.core.somaxconn", "accepted"), ("net.ipv4.tcp_max_syn_backlog", "established")]
    {
        let Some([seen]) = examination.sysctl(&LISTEN_QUEUE, name) else { continue };
        let Some(demand) = examination.load.accepting() else { continue };
        let needed = demand.backlog;
        if seen >= needed {
            continue;
        }
        let at = demand.service.backlog.at.unwrap_or_else(|| demand.at());
        let label = match demand.service.backlog.value {
            0 => format!("an eighth of the connections may wait: {needed}"),
            _ => format!("{needed} connections may wait"),
        };
        let message = format!("{seen} connections may wait to be {what}, but this service asks for {needed}");
        let diagnosis = Diagnosis::new(&LISTEN_QUEUE, Level::Warn, at, message).label(label);
        examination.found(diagnosis.values(seen, needed).sysctl(name, needed));
    }
}

/// The counters of a group in a file of `/proc/net`, since the host started: a line of names, then one of values.
fn counters(examination: &mut Examination<'_>, path: &str, group: &str) -> Option<HashMap<String, u64>> {
    let text = examination.text(&LISTEN_DROPS, path)?;
    let mut rows = text.lines().filter_map(|line| line.strip_prefix(group)?.strip_prefix(':'));
    let (Some(names), Some(values)) = (rows.next(), rows.next()) else {
        examination.unchecked(&LISTEN_DROPS, format!("`{path}` has no `{group}` counters"));
        return None;
    };
    let pairs = names.split_whitespace().zip(values.split_whitespace());
    Some(pairs.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?))).collect())
}

fn listen_drops(examination: &mut Examination<'_>) {
    if examination.load.accepting().is_none() {
        return;
    }
    let Some(queues) = counters(examination, "/proc/net/netstat", "TcpExt") else { return };
    let Some(opened) = counters(examination, "/proc/net/snmp", "Tcp") else { return };
    let counted = |counters: &HashMap<String, u64>, name: &str| counters.get(name).copied().unwrap_or(0);
    let (overflows, drops) = (counted(&queues, "ListenOverflows"), counted(&queues, "ListenDrops"));
    let accepted = counted(&opened, "PassiveOpens");
    // One burst long ago is no reason to change anything.
    if overflows.max(drops) * DROPPED < accepted || overflows.max(drops) == 0 {
        return;
    }
    let Some(demand) = examination.load.accepting() else { return };
    let message = format!(
        "{drops} connections were dropped before a service of this host accepted them, {accepted} were accepted"
    );
    let diagnosis = Diagnosis::new(&LISTEN_DROPS, Level::Warn, demand.service.at, message)
        .values(
            format!("ListenOverflows {overflows}, ListenDrops {drops}"),
            format!("less than one of {DROPPED}"),
        )
        .note("These are counts since the host started, of all its services.")
        .help("see by `nstat -az TcpExtListenOverflows TcpExtListenDrops` whether they still grow; if so, raise `backlog` and `net.core.somaxconn`");
    examination.found(diagnosis);
}

fn syn_cookies(examination: &mut Examination<'_>) {
    let Some(at) = examination.load.accepting().map(|demand| demand.service.at) else { return };
    if examination.sysctl(&SYN_COOKIES, "net.ipv4.tcp_syncookies") == Some([0]) {
        let message =
            "a flood of connection requests fills the queues of this host, since SYN cookies are off";
        let diagnosis =
            Diagnosis::new(&SYN_COOKIES, Level::Warn, at, message).label("this service accepts connections");
        examination.found(diagnosis.values(0, 1).sysctl("net.ipv4.tcp_syncookies", 1));
    }
}

fn memory(examination: &mut Examination<'_>) -> Option<u64> {
    let text = examination.text(&SOCKET_MEMORY, "/proc/meminfo")?;
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next());
    let kilobytes = total.and_then(|total| total.parse::<u64>().ok());
    if kilobytes.is_none() {
        examination.unchecked(&SOCKET_MEMORY, "`/proc/meminfo` does not say how much memory there is");
    }
    kilobytes.map(|kilobytes| kilobytes.saturating_mul(1024))
}

/// Bytes of a page. Where the kernel does not say, it is that of most processors.
fn page_size(examination: &Examination<'_>) -> u64 {
    let said = examination.host.read("/proc/self/smaps".as_ref()).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let size = said.lines().find_map(|line| line.strip_prefix("KernelPageSize:"));
    let kilobytes = size.and_then(|size| size.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(4) * 1024
}

fn socket_memory(examination: &mut Examination<'_>) {
    let (Some(memory), Some([low, pressure, pages])) =
        (memory(examination), examination.sysctl(&SOCKET_MEMORY, "net.ipv4.tcp_mem"))
    else {
        return;
    };
    let page = page_size(examination);
    let sockets = examination.load.connections * 2;
    let (seen, needed) = (pages.saturating_mul(page), sockets * SOCKET);
    if seen < needed {
        let message = format!(
            "all TCP buffers together may take {} MiB, which is too little for {sockets} sockets",
            seen >> 20
        );
        let wanted = needed.div_ceil(page);
        let diagnosis = examination.of_all(&SOCKET_MEMORY, Level::Warn, message, connections, "connections");
        examination.found(
            diagnosis
                .values(format!("{low} {pressure} {pages} pages"), format!("{wanted} pages"))
                .sysctl("net.ipv4.tcp_mem", format!("{} {} {wanted}", wanted / 2, wanted / 4 * 3)),
        );
    }
    for name in ["net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"] {
        // The least, the first and the largest buffer of a socket.
        let Some([least, first, largest]) = examination.sysctl(&SOCKET_MEMORY, name) else { continue };
        let all = sockets.saturating_mul(largest);
        // Where the kernel's bound is low, the sum of the largest does not matter.
        if all > memory && seen > memory / 2 {
            let message = format!(
                "{sockets} sockets with buffers of {largest} bytes would need {} MiB, and TCP may take more than half of the memory",
                all >> 20
            );
            let wanted = (memory / 2 / sockets.max(1)).max(first);
            let diagnosis =
                examination.of_all(&SOCKET_MEMORY, Level::Warn, message, connections, "connections");
            let diagnosis =
                diagnosis.values(largest, format!("{wanted} at most, with {} MiB of memory", memory >> 20));
            examination.found(diagnosis.sysctl(name, format!("{least} {first} {wanted}")));
        }
    }
}

/// Where the kernel tracks connections, each takes an entry on the way in and one on the way out.
fn connection_tracking(examination: &mut Examination<'_>) {
    let check = &CONNECTION_TRACKING;
    let Some(seen) = examination.optional_sysctl(check, "net.netfilter.nf_conntrack_max") else { return };
    let needed = examination.load.connections * 2;
    if seen < needed {
        let message =
            format!("the kernel tracks {seen} connections, but {needed} entries are needed for this load");
        let diagnosis = examination.of_all(check, Level::Warn, message, connections, "connections");
        let diagnosis = diagnosis
            .values(seen, needed)
            .sysctl("net.netfilter.nf_conntrack_max", needed.next_power_of_two());
        examination.found(diagnosis.note(
            "This matters where a firewall rule tracks the proxy's connections, or translates addresses.",
        ));
    }
    if let Some(buckets) = examination.optional_sysctl(check, "net.netfilter.nf_conntrack_buckets")
        && seen.max(needed) > buckets * 8
    {
        let wanted = seen.max(needed).div_ceil(4).next_power_of_two();
        let message = format!("{} tracked connections are looked up in {buckets} lists", seen.max(needed));
        let diagnosis = examination.of_all(check, Level::Warn, message, connections, "connections");
        examination
            .found(diagnosis.values(buckets, wanted).sysctl("net.netfilter.nf_conntrack_buckets", wanted));
    }
    // Entries of peers that went away fill a table that is small for the load.
    let name = "net.netfilter.nf_conntrack_tcp_timeout_established";
    if let Some(timeout) = examination.optional_sysctl(check, name)
        && timeout > TRACKED
        && needed * 2 > seen
    {
        let message = format!("a connection whose peer went away is tracked for {timeout} seconds");
        let diagnosis = examination.of_all(check, Level::Warn, message, connections, "connections");
        examination.found(diagnosis.values(timeout, format!("{TRACKED} at most")).sysctl(name, 3600));
    }
    if examination.optional_sysctl(check, "net.netfilter.nf_conntrack_helper") == Some(1) {
        let message = "tracking helpers read what the proxy's connections carry";
        let diagnosis = examination.of_all(check, Level::Warn, message, connections, "connections");
        examination.found(diagnosis.values(1, 0).sysctl("net.netfilter.nf_conntrack_helper", 0));
    }
}
