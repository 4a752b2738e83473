//! What the kernel can do in the runtime's place: splicing, TLS.
use compiler::{finding::Level, program::service::Service};

use super::{
    checks::{KERNEL_TLS, SPLICE_PIPES},
    examination::{Diagnosis, Examination},
};
use crate::args::ServedBy;

/// Pages of a pipe that is made without a wish.
const PAGES_OF_A_PIPE: u64 = 16;

pub(super) fn examine(examination: &mut Examination<'_>) {
    kernel_tls(examination);
    // What `cfgc run` does not execute needs nothing.
    if examination.subject.served_by == ServedBy::ThreeProxy {
        splice_pipes(examination);
    }
}

fn kernel_tls(examination: &mut Examination<'_>) {
    let uses = |service: &Service| {
        let begins_tls =
            service.tls.serve.is_some() || service.tls.connect.is_some() || service.tls.intercept.is_some();
        service.tls.kernel.filter(|_| begins_tls && !service.kind.takes_datagrams())
    };
    let Some((at, service)) =
        examination.subject.program.services.iter().find_map(|service| Some((uses(service)?, service.at)))
    else {
        return;
    };
    let Some(seen) = examination.text(&KERNEL_TLS, "/proc/sys/net/ipv4/tcp_available_ulp") else { return };
    if seen.split_whitespace().any(|protocol| protocol == "tls") {
        return;
    }
    let mut diagnosis =
        Diagnosis::new(&KERNEL_TLS, Level::Warn, at, "this kernel does no TLS, so `ssl_ktls` has no effect")
            .values(format!("`{}`", seen.trim()), "`tls` in /proc/sys/net/ipv4/tcp_available_ulp")
            .command("modprobe tls");
    diagnosis.finding = diagnosis.finding.also(service, "this service uses TLS");
    examination
        .found(diagnosis.help(
            "run `modprobe tls`, and write `tls` into a file of /etc/modules-load.d, so that it lasts",
        ));
}

fn splice_pipes(examination: &mut Examination<'_>) {
    let pipes = |demand: &super::load::Demand| demand.connections * demand.pipes;
    let pages: u64 = examination.load.services.iter().map(pipes).sum::<u64>() * PAGES_OF_A_PIPE;
    if pages == 0 {
        return;
    }
    let Some([seen]) = examination.sysctl(&SPLICE_PIPES, "fs.pipe-user-pages-soft") else { return };
    // 0 is no bound.
    if seen == 0 || seen >= pages {
        return;
    }
    let message = format!("pipes of one user may take {seen} pages, but spliced connections need {pages}");
    let diagnosis = examination.of_all(&SPLICE_PIPES, Level::Warn, message, pipes, "pipes at most");
    let diagnosis = diagnosis.values(seen, pages).sysctl("fs.pipe-user-pages-soft", pages);
    examination.found(diagnosis.note("Pipes beyond the bound are small, so that splicing is slower than copying. It does not hold for root."));
}
