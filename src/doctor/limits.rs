//! What the system lets one process and one user have: descriptors, threads, mappings.
use std::path::{Path, PathBuf};

use compiler::finding::Level;
use runtime::findings::Explained;

use super::{
    checks::{MEMORY_MAPS, OPEN_FILES, PROCESSES, TASKS, THREADS},
    examination::{Diagnosis, Examination},
    load::Demand,
};
use crate::args::ServedBy;

/// Mappings of a process that has no thread beside its first.
const OWN_MAPS: u64 = 256;
/// A thread's stack, and the page that guards it.
const MAPS_OF_A_THREAD: u64 = 2;

/// The most that a kernel takes for a setting.
const MOST: [(&str, u64); 4] = [
    ("fs.nr_open", 2_147_483_584),
    ("kernel.pid_max", 4 * 1024 * 1024),
    ("kernel.threads-max", 0x3fff_ffff),
    ("vm.max_map_count", 0x7fff_ffff),
];

pub(super) fn examine(examination: &mut Examination<'_>) {
    open_files(examination);
    // A runtime on an event loop has as many threads as processors, whatever the load.
    if examination.subject.served_by == ServedBy::ThreeProxy {
        processes(examination);
        tasks(examination);
        threads(examination);
        memory_maps(examination);
    }
}

/// A file of `/proc` about the process that serves, or about this one in its place.
fn of_process(examination: &Examination<'_>, name: &str) -> PathBuf {
    let process = examination.subject.process.map_or_else(|| "self".to_owned(), |id| id.to_string());
    Path::new("/proc").join(process).join(name)
}

/// A limit of the process, [`u64::MAX`] for none.
fn limit(examination: &mut Examination<'_>, check: &Explained, name: &str) -> Option<u64> {
    let path = of_process(examination, "limits");
    let text = examination.text(check, &path)?;
    let row = text.lines().find_map(|line| line.strip_prefix(name));
    let soft = row.and_then(|row| row.split_whitespace().next());
    let value = soft.and_then(|soft| if soft == "unlimited" { Some(u64::MAX) } else { soft.parse().ok() });
    if value.is_none() {
        examination.unchecked(check, format!("`{}` has no row `{name}`", path.display()));
    }
    value
}

/// Says whose limits were seen. Those of a shell need not be those of the service.
fn whose(examination: &Examination<'_>, mut diagnosis: Diagnosis) -> Diagnosis {
    if let Some(id) = examination.subject.process {
        return diagnosis.note(format!("This is the limit of process {id}."));
    }
    diagnosis.finding.level = Level::Warn;
    diagnosis.note(
        "This is the limit of the shell that runs `cfgc doctor`: a service manager sets others, and `--pid` looks at a process.",
    )
}

fn descriptors(demand: &Demand) -> u64 {
    demand.connections * demand.descriptors
}

fn tasks_of(demand: &Demand) -> u64 {
    demand.connections + 1
}

/// The kernel setting that gives what is needed, or, where no kernel takes so much, how many connections fit. `of` says what each of a
/// service needs.
fn raised(
    examination: &Examination<'_>,
    diagnosis: Diagnosis,
    (name, needed): (&str, u64),
    of: impl Fn(&Demand) -> u64,
) -> Diagnosis {
    let most = MOST.iter().find(|(known, _)| *known == name).map_or(u64::MAX, |(_, most)| *most);
    if needed <= most {
        return diagnosis.sysctl(name, needed);
    }
    let services = &examination.load.services;
    let by_connections: u64 = services.iter().map(|demand| demand.connections * of(demand)).sum();
    let room = most.saturating_sub(needed.saturating_sub(by_connections));
    let each = services.iter().map(of).sum::<u64>().max(1);
    diagnosis.help(match room / each {
        0 => format!("run fewer services: no kernel takes more than {most} for `{name}`"),
        fits => format!("lower `maxconn` to {fits} at most for each service: no kernel takes more than {most} for `{name}`"),
    })
}

fn open_files(examination: &mut Examination<'_>) {
    let needed = examination.load.descriptors;
    let connections = examination.load.connections;
    if let Some(seen) = limit(examination, &OPEN_FILES, "Max open files")
        && seen < needed
    {
        let message =
            format!("a process may have {seen} open files, but {connections} connections need {needed}");
        let diagnosis =
            examination.of_all(&OPEN_FILES, Level::Deny, message, descriptors, "descriptors at most");
        let diagnosis = diagnosis.values(seen, needed).command(format!("ulimit -n {needed}"));
        let help = format!(
            "run `ulimit -n {needed}` in the script that starts it, or write `LimitNOFILE={needed}` into its systemd unit"
        );
        let diagnosis = whose(examination, diagnosis).help(help);
        examination.found(diagnosis);
    }
    if let Some([seen]) = examination.sysctl(&OPEN_FILES, "fs.nr_open")
        && seen < needed
    {
        let message = format!("no process may have more than {seen} open files, but {needed} are needed");
        let diagnosis =
            examination.of_all(&OPEN_FILES, Level::Deny, message, descriptors, "descriptors at most");
        let diagnosis = diagnosis.values(seen, needed);
        let diagnosis = raised(examination, diagnosis, ("fs.nr_open", needed), |demand| demand.descriptors);
        examination.found(diagnosis);
    }
}

/// Whether the limit on a user's processes holds for who serves: it does not for root.
fn is_limited(examination: &mut Examination<'_>) -> Option<bool> {
    if !examination.subject.program.process.setuid.is_empty() {
        return Some(true);
    }
    let status = examination.text(&PROCESSES, of_process(examination, "status"))?;
    // Real, effective, saved, of files.
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    let user = users.and_then(|users| users.split_whitespace().nth(1));
    if user.is_none() {
        examination.unchecked(&PROCESSES, "it is not known which user serves");
    }
    Some(user? != "0")
}

fn processes(examination: &mut Examination<'_>) {
    let needed = examination.load.threads;
    let Some(seen) = limit(examination, &PROCESSES, "Max processes") else { return };
    if seen >= needed || is_limited(examination) != Some(true) {
        return;
    }
    let message =
        format!("a user may have {seen} processes and threads, but 3proxy needs {needed} for this load");
    let diagnosis = examination.of_all(&PROCESSES, Level::Deny, message, tasks_of, "threads at most");
    let diagnosis = diagnosis.values(seen, needed).command(format!("ulimit -u {needed}"));
    let help = format!(
        "run `ulimit -u {needed}` in the script that starts it, or write `LimitNPROC={needed}` into its systemd unit"
    );
    let diagnosis = whose(examination, diagnosis).help(help);
    examination.found(diagnosis);
}

/// The least `pids.max` of the control groups that the process is in.
fn tasks_limit(examination: &mut Examination<'_>) -> Option<u64> {
    let text = examination.text(&TASKS, of_process(examination, "cgroup"))?;
    let group = |line: &str| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let top = match controllers {
            "" => "/sys/fs/cgroup",
            _ if controllers.split(',').any(|name| name == "pids") => "/sys/fs/cgroup/pids",
            _ => return None,
        };
        Some((Path::new(top), path.trim_start_matches('/').to_owned()))
    };
    let limits = text.lines().filter_map(group).flat_map(|(top, path)| {
        let groups: Vec<_> = Path::new(&path).ancestors().map(|group| top.join(group)).collect();
        groups.into_iter().filter_map(|group| {
            let bytes = examination.host.read(&group.join("pids.max")).ok()?;
            String::from_utf8_lossy(&bytes).trim().parse::<u64>().ok()
        })
    });
    limits.min()
}

fn tasks(examination: &mut Examination<'_>) {
    let needed = examination.load.threads;
    let Some(seen) = tasks_limit(examination).filter(|seen| *seen < needed) else { return };
    let message = format!("its control group may have {seen} tasks, but 3proxy needs {needed} for this load");
    let diagnosis = examination.of_all(&TASKS, Level::Deny, message, tasks_of, "threads at most");
    let diagnosis = diagnosis.values(seen, needed);
    let help =
        format!("write `TasksMax={needed}` into its systemd unit (`systemctl edit 3proxy`), and restart it");
    let diagnosis = whose(examination, diagnosis).help(help);
    examination.found(diagnosis);
}

/// How many tasks there are on the host beside those of the process.
fn other_tasks(examination: &mut Examination<'_>) -> Option<u64> {
    let text = examination.text(&THREADS, "/proc/loadavg")?;
    // `running/all`.
    let all = text.split_whitespace().nth(3).and_then(|tasks| tasks.split_once('/')?.1.parse::<u64>().ok());
    if all.is_none() {
        examination.unchecked(&THREADS, "`/proc/loadavg` does not say how many tasks there are");
    }
    let own = examination.subject.process.and_then(|_| {
        let status = examination.text(&THREADS, of_process(examination, "status"))?;
        status.lines().find_map(|line| line.strip_prefix("Threads:"))?.trim().parse().ok()
    });
    Some(all?.saturating_sub(own.unwrap_or(0)))
}

fn threads(examination: &mut Examination<'_>) {
    let Some(others) = other_tasks(examination) else { return };
    let own = examination.load.threads;
    let needed = own + others;
    for name in ["kernel.threads-max", "kernel.pid_max"] {
        let Some([seen]) = examination.sysctl(&THREADS, name) else { continue };
        if seen >= needed {
            continue;
        }
        let message =
            format!("the host may have {seen} threads, but 3proxy needs {own} beside {others} others");
        let diagnosis = examination.of_all(&THREADS, Level::Deny, message, tasks_of, "threads at most");
        let diagnosis = diagnosis.values(seen, needed);
        examination.found(raised(examination, diagnosis, (name, needed.next_multiple_of(1024)), |_| 1));
    }
}

fn memory_maps(examination: &mut Examination<'_>) {
    let needed = examination.load.threads * MAPS_OF_A_THREAD + OWN_MAPS;
    let Some([seen]) = examination.sysctl(&MEMORY_MAPS, "vm.max_map_count") else { return };
    if seen >= needed {
        return;
    }
    let message =
        format!("a process may have {seen} memory mappings, but 3proxy needs {needed} for its threads");
    let diagnosis = examination.of_all(&MEMORY_MAPS, Level::Deny, message, tasks_of, "threads at most");
    let diagnosis = diagnosis.values(seen, needed);
    examination.found(raised(examination, diagnosis, ("vm.max_map_count", needed), |_| MAPS_OF_A_THREAD));
}
