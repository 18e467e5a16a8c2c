//! Several processes install, trust and remove at the same time, and some are killed: nothing is lost, nothing is by halves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::time::Duration;

use briefing_skill_library::{InstallOptions, SkillLibrary, SkillRevisionRef};
use common::{Home, child, child_arguments, pump_files, say, skill};

const PROCESSES: usize = 4;
const SKILLS: usize = 12;

/// How often an installing program is killed. `SKILLS_KILLS` sets another number.
const KILLS: u64 = 25;

fn files_of(name: &str, number: usize) -> Vec<(String, Vec<u8>)> {
    let mut files = pump_files();
    files[0].1 = skill(name, &format!("# Number {number}\n")).into_bytes();
    files
}

#[test]
#[ignore = "runs as a child of another test"]
fn child_installs_its_own_and_the_common_ones() {
    let Some(arguments) = child_arguments() else { return };
    let library = SkillLibrary::open(Path::new(&arguments[0])).unwrap();
    for number in 0..SKILLS {
        let own = library.install_files(files_of(&arguments[1], number), InstallOptions::trusted()).unwrap();
        assert!(own.revision.trusted);
        // All processes install these; each of them asks for trust once.
        let trusting = number % PROCESSES == arguments[2].parse::<usize>().unwrap();
        let options = if trusting { InstallOptions::trusted() } else { InstallOptions::default() };
        library.install_files(files_of("common", number), options).unwrap();
        // And these come and go.
        let gone = library.install_files(files_of("gone", number % 2), InstallOptions::default());
        match gone {
            Ok(gone) => drop(library.remove(&gone.revision.revision_ref).unwrap()),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn concurrent_installations_lose_nothing() {
    let home = Home::new();
    let root = home.path("skills");
    let children: Vec<_> = (0..PROCESSES)
        .map(|n| {
            child("child_installs_its_own_and_the_common_ones", &format!("{}|own-{n}|{n}", root.display()))
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let library = home.library();
    assert!(library.verify_all().unwrap().is_clean());
    let listing = library.list().unwrap();
    assert!(listing.problems.is_empty());
    assert_eq!(listing.revisions.len(), (PROCESSES + 1) * SKILLS);
    assert!(listing.revisions.iter().all(|revision| revision.trusted), "trust was lost");
}

/// Installs until it is killed, and tells each revision once it is acknowledged.
#[test]
#[ignore = "runs as a child of another test"]
fn child_installs_until_it_is_killed() {
    let Some(arguments) = child_arguments() else { return };
    let library = SkillLibrary::open(Path::new(&arguments[0])).unwrap();
    let generation: usize = arguments[1].parse().unwrap();
    for number in 0.. {
        let installed =
            library.install_files(files_of("pump", generation * 10_000 + number), InstallOptions::trusted());
        say(&format!("installed {}", installed.unwrap().revision.revision_ref));
    }
}

#[test]
fn what_was_acknowledged_outlives_the_program() {
    let kills = std::env::var("SKILLS_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let home = Home::new();
    let mut acknowledged: Vec<SkillRevisionRef> = Vec::new();
    // Knuth's MMIX constants; the seed is fixed, the moments are not.
    let mut random = 7_u64;
    for generation in 0..kills {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let arguments = format!("{}|{generation}", home.path("skills").display());
        let mut installing = child("child_installs_until_it_is_killed", &arguments);
        let lines = BufReader::new(installing.stdout.take().unwrap()).lines().map_while(Result::ok);
        // The harness begins the first line with the name of the test.
        let mut told = lines.filter_map(|line| Some(line.split_once("installed ")?.1.parse().unwrap()));
        // The disk may be slow: each program installs at least one, and is killed at some moment of a later one.
        acknowledged.push(told.next().expect("nothing was installed"));
        let told = std::thread::spawn(move || told.collect::<Vec<_>>());
        std::thread::sleep(Duration::from_micros((random >> 33) % 150_000));
        installing.kill().unwrap();
        installing.wait().unwrap();
        acknowledged.extend(told.join().unwrap());
        assert!(home.library().verify_all().unwrap().is_clean());
    }
    let library = home.library();
    for revision in &acknowledged {
        assert!(library.get(revision).unwrap_or_else(|error| panic!("{revision}: {error}")).trusted);
    }
}
