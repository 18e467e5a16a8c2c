//! Which mode and attributes a file has after it was promoted.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use briefing_task_workspace::TargetState;
use common::{Tree, path};

#[test]
fn a_file_that_is_made_anew_takes_nothing_from_one_that_is_gone() {
    let tree = Tree::new(&[("a", b"old"), ("plain", b"plain")]);
    let target = tree.path("a");
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o4755)).unwrap();
    let file = std::fs::File::open(&target).unwrap();
    let has_attributes =
        rustix::fs::fsetxattr(&file, "user.origin", b"old", rustix::fs::XattrFlags::empty()).is_ok();
    let workspace = tree.read_write();
    let candidate = workspace.stage(&path("a"), "new").unwrap();
    workspace.remove_file(&path("a"), None).unwrap();
    workspace.promote(&candidate, TargetState::Absent).unwrap();
    workspace.write(&path("fresh"), "fresh", None).unwrap();
    let mode = |name: &str| std::fs::metadata(tree.path(name)).unwrap().mode() & 0o7777;
    assert_eq!(mode("a"), mode("fresh"));
    if has_attributes {
        let found = rustix::fs::getxattr(&target, "user.origin", &mut [0_u8; 16][..]);
        assert_eq!(found, Err(rustix::io::Errno::NODATA));
    }
}
