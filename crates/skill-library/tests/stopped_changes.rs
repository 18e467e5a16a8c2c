//! A program that is killed before any step of a change leaves nothing of a revision or all of it; a step that fails can be
//! tried again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use briefing_skill_library::{Error, InstallOptions, SkillLibrary, SkillRevisionRef, StepHook};
use common::{Home, child, child_arguments, install_pump, pump_files};

/// What the program does that is stopped.
const SCENARIOS: [&str; 5] = ["install", "repair", "trust", "remove", "install_after_a_crash"];

fn counting(stop_at: usize, stop: fn() -> io::Error) -> (StepHook, Arc<AtomicUsize>) {
    let reached = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&reached);
    let hook = move |_| match counter.fetch_add(1, Ordering::SeqCst) + 1 {
        at if at == stop_at => Err(stop()),
        _ => Ok(()),
    };
    (Arc::new(hook), reached)
}

fn aborted() -> io::Error {
    std::process::abort()
}

fn refused() -> io::Error {
    io::Error::other("the disk is full")
}

/// The library as it is before the scenario, and the revision that the scenario is about.
fn prepared(scenario: &str) -> (Home, SkillRevisionRef) {
    let home = Home::new();
    let pump = install_pump(&home.library());
    match scenario {
        "install" => assert!(home.library().remove(&pump).unwrap()),
        "install_after_a_crash" => {
            assert!(home.library().remove(&pump).unwrap());
            home.put("skills/tmp/draft-1/files/SKILL.md", "a half of it");
        }
        "repair" => std::fs::remove_file(home.kept(&pump, "LICENSE")).unwrap(),
        "trust" => home.library().set_trusted(&pump, false).unwrap(),
        _ => {}
    }
    (home, pump)
}

fn act(library: &SkillLibrary, scenario: &str, pump: &SkillRevisionRef) -> Result<(), Error> {
    match scenario {
        "remove" => library.remove(pump).map(drop),
        _ => library.install_files(pump_files(), InstallOptions::trusted()).map(drop),
    }
}

/// What must hold whenever the library is opened again: the revision is there, whole, or it is not there. (One that was
/// damaged before may still be.)
fn check(home: &Home, scenario: &str, pump: &SkillRevisionRef, at: &str) {
    let library = home.library();
    match library.verify(pump) {
        Ok(problems) => assert!(problems.is_empty() || scenario == "repair", "{at}: {problems:?}"),
        Err(error) => assert!(error.code() == "skill.not_installed" && scenario != "trust", "{at}: {error}"),
    }
    assert!(library.list().unwrap().revisions.len() <= 1, "{at}");
    act(&library, scenario, pump).unwrap();
    if scenario == "remove" {
        assert_eq!(home.files(), ["lock"], "{at}");
    } else {
        assert!(library.verify(pump).unwrap().is_empty() && library.get(pump).unwrap().trusted, "{at}");
        assert!(home.files().iter().all(|path| !path.starts_with("tmp")), "{at}: {:?}", home.files());
    }
}

fn steps_of(scenario: &str) -> usize {
    let (home, pump) = prepared(scenario);
    let (hook, reached) = counting(usize::MAX, refused);
    act(&home.library().on_step(hook), scenario, &pump).unwrap();
    reached.load(Ordering::SeqCst)
}

#[test]
#[ignore = "runs as a child of another test"]
fn child_that_is_stopped() {
    let Some(arguments) = child_arguments() else { return };
    let (hook, _) = counting(arguments[2].parse().unwrap(), aborted);
    let library = SkillLibrary::open(Path::new(&arguments[0])).unwrap().on_step(hook);
    act(&library, &arguments[1], &arguments[3].parse().unwrap()).unwrap();
}

#[test]
fn a_killed_program_leaves_all_or_nothing_at_every_step() {
    for scenario in SCENARIOS {
        let steps = steps_of(scenario);
        assert!(steps >= 6, "{scenario} has only {steps} steps");
        for stop_at in 1..=steps {
            let (home, pump) = prepared(scenario);
            let arguments = format!("{}|{scenario}|{stop_at}|{pump}", home.path("skills").display());
            let status = child("child_that_is_stopped", &arguments).wait_with_output().unwrap().status;
            assert!(status.code().is_none(), "{scenario} at {stop_at} was not killed: {status}");
            check(&home, scenario, &pump, &format!("{scenario} at {stop_at}"));
        }
    }
}

#[test]
fn a_step_that_fails_is_named_and_can_be_tried_again() {
    for scenario in SCENARIOS {
        for stop_at in 1..=steps_of(scenario) {
            let (home, pump) = prepared(scenario);
            let (hook, _) = counting(stop_at, refused);
            let error = act(&home.library().on_step(hook), scenario, &pump).unwrap_err();
            assert!(
                error.code() == "skill.change" && error.to_string().contains("the disk is full"),
                "{error}"
            );
            check(&home, scenario, &pump, &format!("{scenario} at {stop_at}"));
        }
    }
}
