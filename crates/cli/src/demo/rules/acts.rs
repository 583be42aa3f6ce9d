//! The script: a prologue, four jobs and an epoch boundary in between.

use super::stage::{Stage, Surprise};
use super::work::{ASKED, Act, Role, commit, deliver, draw, is_over, open, order, single, vote};
use crate::format::{cby, thousandths};
use remuda_protocol::dispatcher::job::{Job, Status};
use remuda_protocol::dispatcher::spec::{Callback, JobKind, JobSpec};
use remuda_protocol::primitives::{Address, JobId};
use remuda_protocol::registry::register::plain_offer;
use remuda_protocol::transaction::Instruction;

/// Prepaid for a callback to the submitter, an account without code: it fails.
const CALLBACK_CYCLES: u64 = 50_000;

pub(super) fn all(stage: &mut Stage<'_>) -> Result<[Act; 4], Surprise> {
    overture(stage);
    prologue(stage)?;
    let one = act_one(stage)?;
    boundary(stage)?;
    let two = act_two(stage)?;
    let three = act_three(stage, two.who(Role::Silent))?;
    let four = act_four(stage)?;
    Ok([one, two, three, four])
}

fn overture(stage: &mut Stage<'_>) {
    let teller = &mut *stage.teller;
    teller.title("Remuda: work that the chain cannot do itself, and how it knows the answer");
    teller.why(
        "Numbers on the left are block heights, the only clock there is. Lines like this one say \
         why.",
    );
    teller.why(
        "Every block is made, applied again, and applied once more by a node that has just \
         restarted. All three must agree to the byte; then all money is counted.",
    );
}

fn prologue(stage: &mut Stage<'_>) -> Result<(), Surprise> {
    stage.teller.title("Prologue: five runners put money at stake");
    stage.teller.why(
        "A runner does work for others, off the chain. It puts money at stake first, so that it \
         has something to lose.",
    );
    for person in stage.cast.runners.clone() {
        let offer = plain_offer(&[JobKind::Http]);
        stage.send(&person, Instruction::RegisterRunner { stake: person.stake, offer });
    }
    stage.step()?;
    for person in &stage.cast.runners {
        stage.chain.attest(person.address(), true);
    }
    stage.step()?;
    stage.teller.why(
        "Only runners that validators are connected to right now can be drawn. The slot is a \
         runner's bit in what validators sign about that.",
    );
    Ok(())
}

fn act_one(stage: &mut Stage<'_>) -> Result<Act, Surprise> {
    stage.teller.title("Act one: three seats, one lie");
    let actor = stage.cast.submitter.address();
    let callback =
        Callback { actor, handler: "on_price".to_owned(), cycles_limit: CALLBACK_CYCLES };
    let job = order(stage, JobSpec { callback: Some(callback), ..vote() })?;
    explain_size(stage, job, "Before the first epoch boundary the committee size is M = 3")?;
    stage.teller.why(
        "That seed does not exist yet. So nobody can try job after job until a friend is drawn.",
    );
    let act = draw(stage, "one", job, &[Role::Liar])?;
    stage.teller.why(
        "Chances are stake × √reputation. Everybody starts with reputation 60, so for now stake \
         alone decides.",
    );
    announce(stage, &act, Role::Liar, "will make a price up");
    commit(stage, &act)?;
    stage.teller.why(
        "A commit hashes the result with a secret salt and a signature: nobody can copy it, and \
         its owner cannot change it any more.",
    );
    open(stage, &act)?;
    stage.teller.why(
        "Runners get 89 %. The collector's 1.5 % bonus comes out of that, because it is among the \
         winners; the rest is split equally. 10 % and what cannot be split are burned, 1 % is the \
         treasury's. Only the voted field counts: `seen_by` may differ.",
    );
    let before = stage.chain.balance(stage.cast.submitter.address());
    stage.step()?;
    let after = stage.chain.balance(stage.cast.submitter.address());
    let returned = after.minus(before).unwrap_or_default();
    let text = format!(
        "The {} that were prepaid for the call went back to {}. Settlement never depends on a \
         callback.",
        cby(returned),
        stage.cast.submitter.name
    );
    stage.teller.why(&text);
    Ok(act)
}

/// Blocks pass until the committee size has been computed.
fn boundary(stage: &mut Stage<'_>) -> Result<(), Surprise> {
    stage.teller.title("Intermission: how large is a committee?");
    while stage.log.epochs.is_empty() {
        stage.step()?;
    }
    stage.teller.why(
        "HHI is the sum of squared shares of the stake: 1 is a monopoly. The more independent \
         runners there are, the larger the committees that are worth paying for.",
    );
    Ok(())
}

fn act_two(stage: &mut Stage<'_>) -> Result<Act, Surprise> {
    stage.teller.title("Act two: five seats, one lie, one silence");
    let job = order(stage, vote())?;
    explain_size(stage, job, "The same order as before, but now all five are seated")?;
    let act = draw(stage, "two", job, &[Role::Liar, Role::Silent])?;
    announce(stage, &act, Role::Liar, "will make a price up");
    announce(stage, &act, Role::Silent, "will commit and then keep its result to itself");
    commit(stage, &act)?;
    open(stage, &act)?;
    let reveal_by = stage.job(job)?.reveal_by;
    let text = format!(
        "One result is missing. The chain waits: until height {reveal_by} a runner may open its \
         result by itself, so no collector can get another one slashed."
    );
    stage.teller.why(&text);
    let ended = stage.wait(job, "the second job ends", is_over)?;
    explain_failure(stage, &act, &ended);
    Ok(act)
}

fn explain_failure(stage: &mut Stage<'_>, act: &Act, job: &Job) {
    let agree = act.roles.iter().filter(|(_, role)| *role == Role::Honest).count();
    let (committee, needed) = (job.committee, job.n_threshold);
    let text = format!(
        "{agree} results agree, but {committee} seats need {needed}. With one lie and one silence \
         {agree} voices are too few: no answer is better than a doubtful one. The work was done all \
         the same, so each valid result is paid half of its seat; the rest of the escrow goes back."
    );
    stage.teller.why(&text);
    let name = |role| act.who(role).map(|runner| stage.cast.name(runner)).unwrap_or_default();
    let text = format!(
        "Without a verdict nobody can be called a liar, so {}'s reputation stays as it was. That \
         {} broke its commit is a plain fact, and costs a quarter of the stake.",
        name(Role::Liar),
        name(Role::Silent)
    );
    stage.teller.why(&text);
}

fn act_three(stage: &mut Stage<'_>, jailed: Option<Address>) -> Result<Act, Surprise> {
    stage.teller.title("Act three: four seats, one of them empty");
    let job = order(stage, vote())?;
    let jailed = jailed.map(|runner| stage.cast.name(runner)).unwrap_or_default();
    explain_size(stage, job, &format!("{jailed} is in jail, so four can be drawn"))?;
    let act = draw(stage, "three", job, &[Role::Absent])?;
    explain_chances(stage, job)?;
    announce(stage, &act, Role::Absent, "is asleep");
    commit(stage, &act)?;
    let text = format!("The chain waits for the fourth until {}.", stage.job(job)?.commit_by);
    stage.teller.why(&text);
    let record = stage.wait(job, "commits of the third job close", |s| *s != Status::Assigned)?;
    let text = format!(
        "{} commits are as many as have to agree, so the job goes on without the fourth. With \
         fewer, the empty seat would have been drawn again.",
        record.n_threshold
    );
    stage.teller.why(&text);
    open(stage, &act)?;
    stage.teller.why("87.5 CBY do not split into three evenly: the last units are burned, too.");
    Ok(act)
}

fn act_four(stage: &mut Stage<'_>) -> Result<Act, Surprise> {
    stage.teller.title("Act four: one runner, taken at its word");
    let job = order(stage, single())?;
    stage.teller.why("No committee this time: one runner is drawn at once, and nobody checks it.");
    let act = draw(stage, "four", job, &[])?;
    explain_favourite(stage, job)?;
    deliver(stage, &act)?;
    stage.teller.why(
        "Had it said that it cannot do the work, it would have been paid a tenth, and the rest would \
         have gone back.",
    );
    Ok(act)
}

/// `N_threshold`, with its arithmetic.
fn explain_size(stage: &mut Stage<'_>, job: JobId, why: &str) -> Result<(), Surprise> {
    let (runners, threshold) = ASKED;
    let Job { committee, n_threshold, .. } = stage.job(job)?;
    let text = format!(
        "{why}. {} asked for {runners} runners of which {threshold} agree; of {committee} seats at \
         least max(ceil(2·{committee}/3), ceil({threshold}·{committee}/{runners})) = {n_threshold} \
         must.",
        stage.cast.submitter.name
    );
    stage.teller.why(&text);
    Ok(())
}

/// Seats carry the reputation of the draw; nobody was scored since the candidates were fixed.
fn explain_chances(stage: &mut Stage<'_>, job: JobId) -> Result<(), Surprise> {
    let seats = stage.job(job)?.seats;
    let standing = seats.iter().map(|seat| {
        format!("{} {}", stage.cast.name(seat.runner), thousandths(seat.reputation_nano))
    });
    let standing: Vec<String> = standing.collect();
    let text = format!("Reputations differ by now, so chances do: {}.", standing.join(", "));
    stage.teller.why(&text);
    Ok(())
}

/// Who served a submitter last counts more in the next first draw.
fn explain_favourite(stage: &mut Stage<'_>, job: JobId) -> Result<(), Surprise> {
    let Some(favourite) = stage.job(job)?.snapshot.mru else { return Ok(()) };
    let text = format!(
        "{} served {} last, so it counted {} times in this draw: it may still have what it needs \
         at hand.",
        stage.cast.name(favourite),
        stage.cast.submitter.name,
        stage.chain.params.mru_multiplier
    );
    stage.teller.why(&text);
    Ok(())
}

fn announce(stage: &mut Stage<'_>, act: &Act, role: Role, what: &str) {
    if let Some(runner) = act.who(role) {
        let text = format!("{} {what}.", stage.cast.name(runner));
        stage.teller.why(&text);
    }
}
