//! Whoever waits for another writer waits for so long and no longer, and is told why.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use briefing_task_workspace::{Error, TaskWorkspace, WorkspaceOptions};
use common::{Tree, path};

fn impatient(tree: &Tree) -> TaskWorkspace {
    let options = WorkspaceOptions::read_write().max_wait(Duration::from_millis(200));
    TaskWorkspace::open_with(tree.path(""), options).unwrap()
}

/// Gives nothing until it is told to, and says when it is asked.
struct Stalled(Sender<()>, Receiver<()>);

impl Read for Stalled {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.send(()).unwrap();
        let _ = self.1.recv();
        Ok(0)
    }
}

#[test]
fn another_handle_and_another_thread_of_one_handle_give_up_in_time() {
    let tree = Tree::new(&[("a.txt", b"a")]);
    let (slow, other) = (impatient(&tree), impatient(&tree));
    let same = slow.clone();
    let ((asked, was_asked), (go_on, told)) = (channel(), channel());
    let writer = std::thread::spawn(move || slow.write_from(&path("b.txt"), Stalled(asked, told), None));
    was_asked.recv().unwrap();
    for workspace in [&same, &other] {
        let began = Instant::now();
        let busy = workspace.write(&path("c.txt"), "c", None).unwrap_err();
        assert_eq!(busy.code(), "workspace.busy");
        assert!(matches!(busy, Error::Busy { waited_millis } if waited_millis >= 200));
        assert!(began.elapsed() < Duration::from_secs(10));
        assert_eq!(workspace.read(&path("a.txt"), 10).unwrap().bytes, b"a", "reads wait for nobody");
    }
    drop(go_on);
    writer.join().unwrap().unwrap();
    other.write(&path("c.txt"), "c", None).unwrap();
}
