//! How long a promotion takes, against the least that is durable: write, sync, rename, sync of the folder.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use briefing::task_workspace::{TaskWorkspace, WorkspaceOptions, WorkspacePath};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// The baseline: no readback, no digest, no condition, no attributes kept, no candidate that outlasts a crash.
fn raw(folder: &Path, bytes: &[u8]) {
    let draft = folder.join("draft");
    let mut file = File::create(&draft).expect("a draft");
    file.write_all(bytes).expect("bytes");
    file.sync_all().expect("a sync");
    fs::rename(&draft, folder.join("raw.txt")).expect("a rename");
    File::open(folder).and_then(|folder| folder.sync_all()).expect("a sync of the folder");
}

fn promotion(criterion: &mut Criterion) {
    // Where temporary files live in memory a sync costs nothing: the target folder is on a disk.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let workspace =
        TaskWorkspace::open_with(folder.path(), WorkspaceOptions::read_write()).expect("a workspace");
    let target = WorkspacePath::new("target.txt").expect("a path");
    let mut turn = 0_u8;
    for size in [4 << 10, 1 << 20] {
        let mut group = criterion.benchmark_group(format!("promotion of {} KiB", size >> 10));
        group.sample_size(50).throughput(Throughput::Bytes(size as u64));
        // New bytes each time: a target that holds the bytes already is only read.
        let mut bytes = || {
            turn = turn.wrapping_add(1);
            vec![turn; size]
        };
        group.bench_function("baseline: write, fsync, rename, fsync", |bencher| {
            bencher.iter(|| raw(folder.path(), &bytes()));
        });
        group.bench_function("write: the same with condition, digests and readback", |bencher| {
            bencher.iter(|| workspace.write(&target, bytes(), None).expect("a write"));
        });
        group.bench_function("stage and promote", |bencher| {
            bencher.iter(|| {
                let candidate = workspace.stage(&target, bytes()).expect("a candidate");
                workspace.promote(&candidate, candidate.target_state).expect("a promotion")
            });
        });
        group.bench_function("promote alone", |bencher| {
            bencher.iter_batched(
                || workspace.stage(&target, bytes()).expect("a candidate"),
                |candidate| workspace.promote(&candidate, candidate.target_state).expect("a promotion"),
                criterion::BatchSize::PerIteration,
            );
        });
        group.finish();
    }
}

criterion_group!(benches, promotion);
criterion_main!(benches);
