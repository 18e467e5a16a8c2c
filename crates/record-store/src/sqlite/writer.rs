//! The writer: one thread for each database, which puts waiting writes into one commit.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use briefing_core::Environment;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use super::connect;
use super::fail::{Fail, Outcome, to_db};
use super::select::Label;
use crate::{Durability, Error, Journal};

/// How many writes may wait; more wait for a place in the queue.
const QUEUE: usize = 1_024;

/// How many waiting writes one commit takes.
const GROUP: usize = 256;

/// How many labels the writer remembers.
const LABELS: usize = 65_536;

/// The longest that a runtime's worker waits for another thread to take over the closing of a database; as a rule that takes
/// some microseconds.
const MOST_HANDOVER: Duration = Duration::from_millis(100);

/// How many bytes of search terms may wait for the end of their transaction.
const WAITING_TERMS: usize = 16 << 20;

/// The writers of this process: one for each database and way of writing. Each has a lock of its own, so that a database that
/// is slow to open keeps nobody else waiting.
static WRITERS: LazyLock<Mutex<HashMap<Key, Entry>>> = LazyLock::new(Mutex::default);

type Entry = Arc<Mutex<Weak<Writer>>>;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    path: PathBuf,
    durability: Durability,
    journal: Journal,
    /// A child that came through a fork has no thread of its parent's.
    process: u32,
}

#[derive(Debug)]
pub(super) struct Writer {
    /// `None` only while it is dropped.
    jobs: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Thread,
    /// The file that it writes to; another one under the same path is another database.
    file: Option<(u64, u64)>,
}

/// The writer's thread, until somebody waits for its end.
type Thread = Arc<Mutex<Option<thread::JoinHandle<()>>>>;

fn join(thread: &Mutex<Option<thread::JoinHandle<()>>>) {
    let thread = thread.lock().unwrap_or_else(PoisonError::into_inner).take();
    // What panicked there was told to whoever asked for it.
    drop(thread.map(thread::JoinHandle::join));
}

impl Drop for Writer {
    /// Lets the thread do what is queued and close the database. In a runtime that is waited for where it blocks nobody, and
    /// at the latest when the runtime is dropped.
    fn drop(&mut self) {
        drop(self.jobs.take());
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return join(&self.thread) };
        let thread = Arc::clone(&self.thread);
        let (begun, begins) = std::sync::mpsc::channel();
        drop(runtime.spawn_blocking(move || {
            // Nobody listens where all of the runtime's threads were busy for too long.
            let _ = begun.send(());
            join(&thread);
        }));
        // A runtime that is dropped waits for what has begun, and forgets the rest: without this the process could end while
        // the database is being closed.
        if begins.recv_timeout(MOST_HANDOVER) == Err(RecvTimeoutError::Disconnected) {
            join(&self.thread);
        }
    }
}

impl Writer {
    /// The writer of a database, which is made if there is none. It blocks.
    pub(super) fn open(
        path: &Path,
        durability: Durability,
        journal: Journal,
        busy_timeout: Duration,
        environment: &dyn Environment,
    ) -> Result<Arc<Self>, Error> {
        // The file may not be there yet, but its folder's name does not change by making it.
        connect::make_folders(path)?;
        let folder = path.parent().unwrap_or(path);
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let path = folder.join(path.file_name().unwrap_or_default());
        let key = Key { path: path.clone(), durability, journal, process: std::process::id() };
        let entry = {
            let mut writers = WRITERS.lock().unwrap_or_else(PoisonError::into_inner);
            writers.retain(|_, entry| Arc::strong_count(entry) > 1 || is_used(entry));
            Arc::clone(writers.entry(key).or_default())
        };
        let mut known = entry.lock().unwrap_or_else(PoisonError::into_inner);
        let usable = |writer: &Arc<Self>| writer.is_alive() && writer.file == connect::identity(&path);
        if let Some(writer) = known.upgrade().filter(usable) {
            return Ok(writer);
        }
        let connection = connect::writer(&path, durability, journal, busy_timeout, environment)?;
        let (jobs, queue) = mpsc::channel(QUEUE);
        let file = connect::identity(&path);
        let desk = Desk { path: path.clone(), file, busy_timeout };
        let thread = thread::Builder::new()
            .name("briefing-records".to_owned())
            .spawn(move || desk.work(connection, queue))
            .map_err(|error| Error::io("the writer's thread cannot start", &path, error))?;
        let writer = Arc::new(Self { jobs: Some(jobs), thread: Arc::new(Mutex::new(Some(thread))), file });
        *known = Arc::downgrade(&writer);
        Ok(writer)
    }

    fn is_alive(&self) -> bool {
        self.jobs.as_ref().is_some_and(|jobs| !jobs.is_closed())
    }

    /// Does some work in a transaction, and answers when it is committed. Where the future is dropped, the work is done all
    /// the same once it was queued.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&mut Tx<'_>) -> Outcome<T> + Send + 'static,
    ) -> Result<T, Error> {
        self.send(doing, false, work).await
    }

    /// As `write`, for work that writes more than is kept in memory.
    pub(super) async fn write_much<T: Send + 'static>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&mut Tx<'_>) -> Outcome<T> + Send + 'static,
    ) -> Result<T, Error> {
        self.send(doing, true, work).await
    }

    async fn send<T: Send + 'static>(
        &self,
        doing: &'static str,
        much: bool,
        work: impl FnOnce(&mut Tx<'_>) -> Outcome<T> + Send + 'static,
    ) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let job = Task { doing, much, work: Some(work), outcome: None, reply };
        let jobs = self.jobs.as_ref().ok_or(Error::Interrupted)?;
        jobs.send(Box::new(job)).await.map_err(|_| Error::Interrupted)?;
        answer.await.map_err(|_| Error::Interrupted)?
    }
}

/// Whether somebody has the writer of an entry.
fn is_used(entry: &Mutex<Weak<Writer>>) -> bool {
    // An entry that is locked is being opened.
    entry.try_lock().map_or(true, |writer| writer.strong_count() > 0)
}

/// A write that waits.
trait Job: Send {
    /// Does it; says whether it may be kept.
    fn run(&mut self, tx: &mut Tx<'_>, desk: &Desk) -> bool;
    /// Tells whoever waits: that it is committed, or why it is not.
    fn answer(self: Box<Self>, committed: Result<(), Error>);
    fn doing(&self) -> &'static str;
    /// Whether it writes more than is kept in memory.
    fn writes_much(&self) -> bool;
}

struct Task<W, T> {
    doing: &'static str,
    much: bool,
    work: Option<W>,
    outcome: Option<Result<T, Error>>,
    reply: oneshot::Sender<Result<T, Error>>,
}

impl<W, T> Job for Task<W, T>
where
    W: FnOnce(&mut Tx<'_>) -> Outcome<T> + Send,
    T: Send,
{
    fn run(&mut self, tx: &mut Tx<'_>, desk: &Desk) -> bool {
        let Some(work) = self.work.take() else { return false };
        // What panics (an environment of the caller's may) fails alone, and is undone like any other failure.
        let outcome = catch_unwind(AssertUnwindSafe(|| work(tx)))
            .map_or(Err(Error::Interrupted), |outcome| outcome.map_err(|fail| desk.told(fail, self.doing)));
        let keep = outcome.is_ok();
        self.outcome = Some(outcome);
        keep
    }

    fn answer(self: Box<Self>, committed: Result<(), Error>) {
        let outcome = match (self.outcome, committed) {
            (Some(Err(error)), _) | (Some(Ok(_)) | None, Err(error)) => Err(error),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (None, Ok(())) => Err(Error::Interrupted),
        };
        // Whoever asked may have stopped waiting.
        let _ = self.reply.send(outcome);
    }

    fn doing(&self) -> &'static str {
        self.doing
    }

    fn writes_much(&self) -> bool {
        self.much
    }
}

/// What the writer's thread knows beside its connection.
struct Desk {
    path: PathBuf,
    file: Option<(u64, u64)>,
    busy_timeout: Duration,
}

impl Desk {
    fn told(&self, fail: Fail, doing: &'static str) -> Error {
        fail.told(&self.path, doing, self.busy_timeout)
    }

    fn work(self, mut connection: Connection, mut queue: mpsc::Receiver<Box<dyn Job>>) {
        let mut written = Written::default();
        while let Some(first) = queue.blocking_recv() {
            let mut group = vec![first];
            while group.len() < GROUP
                && let Ok(next) = queue.try_recv()
            {
                group.push(next);
            }
            let doing = group.first().map_or("writing", |job| job.doing());
            let committed =
                self.commit(&mut connection, &mut group, &mut written).map_err(|fail| self.told(fail, doing));
            if committed.is_err() {
                written.labels.clear();
            }
            for job in group {
                job.answer(committed.clone());
            }
        }
    }

    /// Runs a group of jobs in one transaction. A job that fails is undone alone.
    fn commit(
        &self,
        connection: &mut Connection,
        group: &mut [Box<dyn Job>],
        written: &mut Written,
    ) -> Outcome<()> {
        // What is written to a file that was removed or replaced is lost, and must not be acknowledged.
        if connect::identity(&self.path) != self.file {
            return Err(Error::Moved { path: self.path.clone() }.into());
        }
        let mut transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        written.head = super::changes::head(&transaction)?;
        written.touched.clear();
        written.terms.clear();
        if written.labels.len() > LABELS {
            written.labels.clear();
        }
        for job in group {
            if job.writes_much() || written.terms.bytes > WAITING_TERMS {
                written.terms.write(&transaction)?;
            }
            let (head, touched) = (written.head, written.touched.clone());
            let terms_before = written.terms.changes.len();
            let savepoint = transaction.savepoint()?;
            let keep = job.run(&mut Tx { connection: &savepoint, written, terms_before }, self);
            if keep {
                savepoint.commit()?;
            } else {
                // Dropping it undoes it.
                savepoint.finish()?;
                written.head = head;
                written.touched = touched;
                written.terms.changes.truncate(terms_before);
                written.labels.clear();
            }
        }
        written.terms.write(&transaction)?;
        written.mark_labels(&transaction)?;
        transaction.commit()?;
        Ok(())
    }
}

/// What the current transaction has written so far, and what is remembered from one to the next.
#[derive(Default)]
struct Written {
    /// The last change of the log.
    head: u64,
    /// Labels that are known to be there, with their numbers.
    labels: HashMap<String, i64>,
    /// The last change of each label.
    touched: HashMap<i64, u64>,
    terms: WaitingTerms,
}

/// Search terms that wait for the end of the transaction: FTS5 writes all it holds whenever a savepoint begins, so terms that
/// are written between savepoints cost each job such a writing.
#[derive(Default)]
struct WaitingTerms {
    changes: Vec<TermChange>,
    bytes: usize,
}

struct TermChange {
    record: i64,
    /// Whether the record has terms that go.
    replaces: bool,
    /// Its summary's and its body's; `None` where it goes itself.
    terms: Option<(String, String)>,
}

impl WaitingTerms {
    fn clear(&mut self) {
        self.changes.clear();
        self.bytes = 0;
    }

    fn write(&mut self, connection: &Connection) -> Outcome<()> {
        for change in self.changes.drain(..) {
            if change.replaces {
                connection
                    .prepare_cached("DELETE FROM record_terms WHERE rowid = ?1")?
                    .execute([change.record])?;
            }
            if let Some((summary, body)) = change.terms {
                connection
                    .prepare_cached("INSERT INTO record_terms(rowid, summary, body) VALUES(?1, ?2, ?3)")?
                    .execute((change.record, summary, body))?;
            }
        }
        self.bytes = 0;
        Ok(())
    }
}

impl Written {
    fn mark_labels(&self, connection: &Connection) -> Outcome<()> {
        let mut update = connection.prepare_cached("UPDATE labels SET changed = ?2 WHERE id = ?1")?;
        for (label, seq) in &self.touched {
            update.execute((label, to_db(*seq)?))?;
        }
        Ok(())
    }
}

/// A write transaction.
pub(super) struct Tx<'a> {
    pub(super) connection: &'a Connection,
    written: &'a mut Written,
    /// How many terms of jobs before wait.
    terms_before: usize,
}

impl Tx<'_> {
    /// The next number of the log of changes.
    pub(super) fn next_change(&mut self) -> u64 {
        self.written.head += 1;
        self.written.head
    }

    /// The number of a label, which is made if there is none.
    pub(super) fn label(&mut self, text: &str) -> Outcome<i64> {
        if let Some(id) = self.written.labels.get(text) {
            return Ok(*id);
        }
        let id = match Label::find(self.connection, text)? {
            Some(label) => label.number,
            None => {
                self.connection
                    .prepare_cached("INSERT INTO labels(text, changed) VALUES(?1, 0)")?
                    .execute([text])?;
                self.connection.last_insert_rowid()
            }
        };
        self.written.labels.insert(text.to_owned(), id);
        Ok(id)
    }

    /// Sets the search terms of a record's summary and body, in the place of others if it has some; `None` removes them.
    pub(super) fn set_terms(
        &mut self,
        record: i64,
        replaces: bool,
        terms: Option<(String, String)>,
    ) -> Outcome<()> {
        let waiting = &mut self.written.terms;
        waiting.bytes += terms.as_ref().map_or(0, |(summary, body)| summary.len() + body.len());
        waiting.changes.push(TermChange { record, replaces, terms });
        // What others have written must not be undone with this job.
        if waiting.bytes > WAITING_TERMS && self.terms_before == 0 {
            waiting.write(self.connection)?;
        }
        Ok(())
    }

    /// Writes a change to the log and to its labels.
    pub(super) fn log(&mut self, seq: u64, record: i64, before: &[i64], after: &[i64]) -> Outcome<()> {
        for label in before.iter().chain(after) {
            self.written.touched.insert(*label, seq);
        }
        let text = |labels: &[i64]| {
            let labels: Vec<String> = labels.iter().map(i64::to_string).collect();
            (!labels.is_empty()).then(|| labels.join(","))
        };
        self.connection
            .prepare_cached("INSERT INTO changes(seq, record, before, after) VALUES(?1, ?2, ?3, ?4)")?
            .execute((to_db(seq)?, record, text(before), text(after)))?;
        Ok(())
    }
}
