//! `remuda run logs`.

use super::{Target, note};
use crate::failure::Failure;
use crate::fleet::{FleetFailure, Session};
use crate::style::{Tone, clean};
use remuda_client::client::RetryPolicy;
use remuda_fleet::client::ClientError;
use remuda_fleet::id::{Fence, JobId};
use remuda_fleet::view::{JobView, RunView};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::time::Duration;

/// Between two looks at a log that goes on.
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// Between two questions to an orchestrator that does not answer, at most.
const ASK_AGAIN_MAX: Duration = Duration::from_secs(10);
/// A line that is longer is shown in pieces.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// How far a job's log was printed.
#[derive(Default)]
struct Printed {
    fence: Fence,
    offset: u64,
    /// The beginning of a line whose end is not there yet.
    rest: Vec<u8>,
    /// Whether what was written as it is ended within a line.
    open: bool,
}

struct Printer<'a> {
    session: &'a Session,
    follow: bool,
    /// Each line begins with its job's name.
    names: Option<usize>,
    printed: BTreeMap<JobId, Printed>,
}

pub(super) async fn logs(
    session: &Session,
    target: &Target,
    name: Option<&str>,
    follow: bool,
) -> Result<(), Failure> {
    let mut printer = Printer { session, follow, names: None, printed: BTreeMap::new() };
    let mut begun = false;
    loop {
        let jobs = jobs(session, target, name, follow && begun).await?;
        begun = true;
        if jobs.len() > 1 {
            printer.names = jobs.iter().map(|job| job.name.chars().count()).max();
        }
        let over = jobs.iter().all(|job| job.state.terminal());
        let mut more = false;
        for job in &jobs {
            more |= printer.print(job).await?;
        }
        if more {
            continue;
        }
        // What was there when it was over is all there is.
        if over || !follow {
            return printer.finish(&jobs);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// What one grant wrote, if there was one.
pub(super) async fn earlier(
    session: &Session,
    target: &Target,
    name: Option<&str>,
    fence: Fence,
) -> Result<(), Failure> {
    let mut jobs = jobs(session, target, name, false).await?;
    let several = jobs.len() > 1;
    jobs.retain(|job| job.fence >= fence);
    if jobs.is_empty() {
        return Err(FleetFailure::NoGrant { fence }.into());
    }
    let names = jobs.iter().map(|job| job.name.chars().count()).max().filter(|_| several);
    let mut printer = Printer { session, follow: false, names, printed: BTreeMap::new() };
    for job in &jobs {
        printer.printed.insert(job.job_id.clone(), Printed { fence, ..Printed::default() });
        while printer.read(job).await? > 0 {}
    }
    printer.finish(&jobs)
}

/// Calls the orchestrator. With `patient`, as for `--follow`, retries until it is reachable again. A malformed
/// answer is a final error: a retry would return the same.
async fn ask<T, F: Future<Output = Result<T, ClientError>>>(
    session: &Session,
    patient: bool,
    ask: impl Fn() -> F,
) -> Result<T, Failure> {
    let retry = RetryPolicy { attempts: u32::MAX, base: LOOK_EVERY, max: ASK_AGAIN_MAX };
    let mut failures = 0;
    loop {
        match ask().await {
            Err(ClientError::Unreachable { .. }) if patient => {
                if failures == 0 {
                    note("the orchestrator does not answer; this goes on when it does");
                }
                tokio::time::sleep(retry.backoff(failures)).await;
                failures = failures.saturating_add(1);
            }
            answered => return answered.map_err(|error| session.explain(error)),
        }
    }
}

/// The jobs that are meant.
pub(super) async fn jobs(
    session: &Session,
    target: &Target,
    name: Option<&str>,
    patient: bool,
) -> Result<Vec<JobView>, Failure> {
    let run = match target {
        Target::Job(job) => {
            let job = ask(session, patient, || session.client.job(job)).await?;
            return Ok(vec![job]);
        }
        Target::Run(run) => run,
    };
    let view = ask(session, patient, || session.client.run(run)).await?;
    let RunView { summary, jobs, .. } = view;
    let Some(name) = name else { return Ok(jobs) };
    let there: Vec<String> = jobs.iter().map(|job| job.name.clone()).collect();
    match jobs.into_iter().find(|job| job.name == name) {
        Some(job) => Ok(vec![job]),
        None => {
            let there = there.join(", ");
            Err(FleetFailure::NoJob { run: summary.run_id, name: name.to_owned(), there }.into())
        }
    }
}

impl Printer<'_> {
    /// Prints what is new. True: there may be more already.
    async fn print(&mut self, job: &JobView) -> Result<bool, Failure> {
        let before = self.printed.get(&job.job_id).map_or(Fence(0), |printed| printed.fence);
        if before != job.fence {
            if before > Fence(0) {
                // What the last grant wrote before it ended comes first.
                while self.read(job).await? > 0 {}
                self.end(job)?;
                note(&format!("{} goes on under fence {}", job.name, job.fence));
            }
            // Another grant has a log of its own, from its beginning.
            let printed = Printed { fence: job.fence, ..Printed::default() };
            self.printed.insert(job.job_id.clone(), printed);
        }
        let offset = |printer: &Self| printer.printed.get(&job.job_id).map_or(0, |it| it.offset);
        if offset(self) >= job.log_bytes {
            return Ok(false);
        }
        let read = self.read(job).await?;
        Ok(read > 0 && offset(self) < job.log_bytes)
    }

    /// Prints what comes next of the grant that is being printed. How many bytes that were.
    async fn read(&mut self, job: &JobView) -> Result<usize, Failure> {
        let printed = self.printed.entry(job.job_id.clone()).or_default();
        let (fence, offset) = (printed.fence, printed.offset);
        let client = &self.session.client;
        let read = || client.log(&job.job_id, Some(fence), offset);
        let bytes = ask(self.session, self.follow, read).await?;
        let read = bytes.len();
        printed.offset += read as u64;
        if read == 0 {
            return Ok(0);
        }
        if self.session.out.json {
            let text = String::from_utf8_lossy(&bytes);
            let piece = json!({ "job": job.name, "fence": fence, "offset": offset, "text": text });
            self.session.out.show(&piece, |_, _| String::new())?;
            return Ok(read);
        }
        let raw = self.names.is_none() && !self.session.out.style.terminal;
        if raw {
            printed.open = bytes.last() != Some(&b'\n');
            write(&bytes)?;
            return Ok(read);
        }
        let mut rest = std::mem::take(&mut printed.rest);
        rest.extend(bytes);
        let mut lines: Vec<&[u8]> = rest.split(|byte| *byte == b'\n').collect();
        let unfinished = lines.pop().unwrap_or_default();
        let mut text = String::new();
        for line in lines {
            text += &line_of(self.session, self.names, &job.name, line);
        }
        match unfinished.len() > LINE_BYTES_MAX {
            true => text += &line_of(self.session, self.names, &job.name, unfinished),
            false => printed.rest = unfinished.to_vec(),
        }
        self.session.out.text(&text)?;
        Ok(read)
    }

    /// Ends a line of a grant that is over: the next one's log begins on its own.
    fn end(&self, job: &JobView) -> Result<(), Failure> {
        if self.printed.get(&job.job_id).is_some_and(|printed| printed.open) {
            write(b"\n")?;
        }
        self.unfinished(job)
    }

    /// Prints a line that never ended.
    fn unfinished(&self, job: &JobView) -> Result<(), Failure> {
        let rest = self.printed.get(&job.job_id).map(|printed| printed.rest.as_slice());
        match rest.filter(|rest| !rest.is_empty()) {
            Some(rest) => {
                let text = line_of(self.session, self.names, &job.name, rest);
                self.session.out.text(&text)
            }
            None => Ok(()),
        }
    }

    /// Prints lines that never ended.
    fn finish(self, jobs: &[JobView]) -> Result<(), Failure> {
        jobs.iter().try_for_each(|job| self.unfinished(job))
    }
}

/// A line as it is printed: a job wrote it, and a terminal obeys some of what it is sent.
fn line_of(session: &Session, names: Option<usize>, name: &str, line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = match session.out.style.terminal {
        true => clean(&text.trim_end_matches('\r').replace('\t', "    ")),
        false => text.into_owned(),
    };
    match names {
        Some(width) => {
            let name = format!("{:<width$} |", clean(name));
            format!("{} {text}\n", session.out.style.paint(Tone::Why, &name))
        }
        None => format!("{text}\n"),
    }
}

/// Writes raw bytes to standard output.
fn write(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(Failure::Output)
}
