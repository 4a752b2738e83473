//! Counter files on a disk.
use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::Path,
    sync::Arc,
};

use compiler::program::limits::Rotation;
use grammar::Text;
use jiff::{Timestamp, tz::TimeZone};

use super::{CounterFile, Keeper, Line, Quota, Record, Store, Unusable, period};
use crate::limits::traffic::Counter;

const NOW: i64 = 1_800_000_000;

fn line(number: u32, rotation: Rotation, comment: &str) -> Line {
    let quota = Quota { counter: Arc::new(Counter::new(0, NOW, 0)), bytes: 1 << 40, rotation };
    Line { number, comment: Text::from(comment.as_bytes()), quota: Arc::new(quota) }
}

fn keeper(path: &Path, lines: Vec<Line>) -> Keeper {
    Keeper { store: Arc::new(Store::open(path.into()).unwrap()), lines, report: None }
}

fn stored(path: &Path) -> CounterFile {
    CounterFile::read(fs::read(path).unwrap()).unwrap()
}

#[test]
fn what_is_counted_is_written_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counters");
    let keeper = keeper(&path, vec![line(2, Rotation::Daily, ""), line(0, Rotation::Daily, "")]);
    assert!(!path.exists(), "it is made when there is something to keep");
    keeper.lines[0].quota.take(700, NOW);
    keeper.lines[1].quota.take(999, NOW);
    keeper.save(NOW).unwrap();
    let record = Record { used: 700, began: NOW, updated: NOW };
    assert_eq!(Store::open(path.clone()).unwrap().record(2).unwrap(), Some(record));
    assert_eq!((stored(&path).written(), fs::metadata(&path).unwrap().len()), (NOW, 16 + 2 * 24));
    let first = fs::metadata(&path).unwrap().ino();
    keeper.save(NOW + 5).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().ino(), first, "nothing was counted since");
    keeper.lines[0].quota.take(1, NOW + 6);
    keeper.save(NOW + 6).unwrap();
    assert_eq!(stored(&path).record(2).unwrap().unwrap().used, 701);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn what_others_keep_there_stays_and_so_do_mode_and_link() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("counters"), folder.path().join("link"));
    let mut file = CounterFile::new();
    let other = Record { used: 5, began: 6, updated: 7 };
    file.set(1, other);
    file.set(4, other);
    // Half a record of some other number, which nobody asks for.
    fs::write(&path, [file.bytes(), &[9; 11]].concat()).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o604)).unwrap();
    symlink("counters", &link).unwrap();
    let keeper = keeper(&link, vec![line(2, Rotation::Daily, "")]);
    keeper.lines[0].quota.take(1, NOW);
    keeper.save(NOW).unwrap();
    let stored = stored(&path);
    assert_eq!((stored.record(1), stored.record(4)), (Ok(Some(other)), Ok(Some(other))));
    assert!(stored.bytes().ends_with(&[9; 11]));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o604);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn what_a_link_names_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    symlink("counters", &link).unwrap();
    let keeper = keeper(&link, vec![line(1, Rotation::Never, "")]);
    keeper.lines[0].quota.take(10, NOW);
    keeper.save(NOW).unwrap();
    assert_eq!(stored(&folder.path().join("counters")).record(1).unwrap().unwrap().used, 10);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn a_file_that_can_not_be_used_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counters");
    fs::write(&path, "this is not a counter file at all, certainly").unwrap();
    let refused = Store::open(path.clone()).unwrap_err();
    assert!(matches!(refused, Unusable::Damaged { .. }), "{refused}");
    assert_eq!(fs::read(&path).unwrap(), b"this is not a counter file at all, certainly");
    let mut file = CounterFile::new();
    file.set(3, Record { used: 1, began: 1, updated: 1 });
    fs::write(&path, &file.bytes()[..70]).unwrap();
    let store = Store::open(path).unwrap();
    assert!(store.record(2).is_ok() && store.record(3).is_err());
    for nowhere in [folder.path().join("no/counters"), folder.path().into(), "/proc/version/counters".into()]
    {
        let refused = Store::open(nowhere).unwrap_err();
        assert!(matches!(refused, Unusable::Io { .. }), "{refused}");
    }
}

#[test]
fn a_failure_is_told_and_made_good_the_next_time() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("place");
    fs::create_dir(&place).unwrap();
    let path = place.join("counters");
    let keeper = keeper(&path, vec![line(1, Rotation::Never, "")]);
    keeper.lines[0].quota.take(10, NOW);
    fs::remove_dir(&place).unwrap();
    assert_eq!(keeper.save(NOW).unwrap_err().0, path);
    fs::create_dir(&place).unwrap();
    keeper.save(NOW).unwrap();
    assert_eq!(stored(&path).record(1).unwrap().unwrap().used, 10);
    assert!(!keeper.says(true) && keeper.says(true) && keeper.says(false) && !keeper.says(false));
}

#[test]
fn a_report_is_written_when_its_period_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let (path, report) = (folder.path().join("counters"), folder.path().join("report"));
    let lines = vec![
        line(1, Rotation::Hourly, "too short"),
        line(2, Rotation::Daily, "a text"),
        line(0, Rotation::Monthly, ""),
        line(7, Rotation::Never, ""),
    ];
    let mut keeper = keeper(&path, lines);
    keeper.report = Some((Rotation::Daily, report.clone()));
    let midnight = period::end(Rotation::Daily, NOW, &TimeZone::system()).unwrap();
    let quotas: Vec<Arc<Quota>> = keeper.lines.iter().map(|line| Arc::clone(&line.quota)).collect();
    let took = |bytes, at| quotas.iter().for_each(|quota| assert_eq!(quota.take(bytes, at), bytes));
    took(100, NOW);
    keeper.save(NOW).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no report yet");
    took(20, midnight - 1);
    // The new day has begun to count before it is noticed.
    quotas[1].take(5, midnight);
    keeper.save(midnight + 1).unwrap();
    let day = Timestamp::from_second(NOW).unwrap().to_zoned(TimeZone::system()).strftime("%Y.%m.%d");
    let name = format!("report.{day}");
    let text = fs::read_to_string(folder.path().join(&name)).unwrap();
    let expected =
        "00002 00000000000000000120 #a text\n00000 00000000000000000120 #\n00007 00000000000000000120 #\n";
    assert_eq!(text, expected);
    keeper.save(midnight + 2).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "one report for the day");
    assert_eq!(stored(&path).record(2).unwrap().unwrap().used, 5);
}
