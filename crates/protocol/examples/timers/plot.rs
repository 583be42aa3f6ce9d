//! How much of the lane a developer gets who splits into many actors (CIP-1 §8, limitation 1),
//! measured on a chain and drawn.

use remuda_protocol::actors::host::Host;
use remuda_protocol::actors::{Actors, Argument, Call, Ended};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::error::Refusal;
use remuda_protocol::event::Event;
use remuda_protocol::local::LocalChain;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount, Height};
use remuda_protocol::state::View;
use remuda_protocol::timers::host::ScheduleTimer;
use remuda_protocol::transaction::Instruction;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Handlers use all they may: 20 fires of 100,000 cycles fill a block.
#[derive(Debug)]
struct Busy;

impl Actors for Busy {
    fn has_code(&self, _: &dyn View, _: Address) -> bool {
        true
    }

    fn call(&self, host: &mut Host<'_, '_>, call: &Call<'_>) -> Result<Ended, Refusal> {
        let Argument::Timer(timer) = call.argument else { return Err(Refusal::UnknownMethod) };
        host.charge(timer.gas_limit - 1_000, 0)?;
        Ok(Ended::Returned(Vec::new()))
    }
}

const HONEST: usize = 20;
const BLOCKS: u64 = 40;
/// Odd, so that there is a middle one.
const RUNS: u32 = 9;
const FRAGMENTS: [usize; 7] = [1, 2, 5, 10, 20, 50, 100];

/// The developer's part of all fires in 40 blocks. Runs differ by lots alone. The honest and the developer each want
/// as much as the lane gives, at one price.
fn share(fragments: usize, run: u32) -> f64 {
    let keys = |name: &str, n: usize| -> Vec<SecretKey> {
        (0..n).map(|i| SecretKey::from_label(&format!("{name} {i} of run {run}"))).collect()
    };
    let (honest, developer) = (keys("honest", HONEST), keys("fragment", fragments));
    let everybody = honest.iter().chain(&developer);
    let balances = everybody.map(|key| (key.address(), Amount::cby(5_000)));
    let mut params = ChainParams::development();
    params.lane_adjustment_quotient = 8;
    let mut chain = LocalChain::start(params, balances, Vec::new()).expect("a sound genesis");
    chain.actors = &Busy;
    let (wanted, start) = (20 * BLOCKS as usize, Height(4 * BLOCKS));
    let timer = ScheduleTimer {
        height: start,
        max_fee_per_cycle: Some(1_000_000),
        max_priority_fee_per_cycle: Some(100),
        gas_limit: Some(100_000),
        max_cells: Some(0),
        ..ScheduleTimer::default()
    };
    for n in 0..wanted {
        for group in [&honest, &developer] {
            let timer = timer.clone();
            chain.send(&group[n % group.len()], Instruction::ScheduleTimer { timer });
        }
        if n % 50 == 49 {
            let outcome = chain.step();
            let events = outcome.events();
            let new = events.filter(|event| matches!(event, Event::TimerScheduled { .. })).count();
            assert_eq!(new, 100, "every timer is scheduled");
        }
    }
    let own: BTreeSet<Address> = developer.iter().map(SecretKey::address).collect();
    let (mut got, mut all) = (0, 0);
    while chain.height() < start.plus(BLOCKS - 1) {
        for event in chain.step().events() {
            if let Event::TimerFired { actor, .. } = event {
                got += u32::from(own.contains(actor));
                all += 1;
            }
        }
    }
    f64::from(got) / f64::from(all)
}

/// Left, top, width and height of the axes.
const AXES: (f64, f64, f64, f64) = (56.0, 28.0, 440.0, 220.0);

fn x(actors: usize) -> f64 {
    AXES.0 + AXES.2 * (actors as f64).ln() / 100f64.ln()
}

fn y(share: f64) -> f64 {
    AXES.1 + AXES.3 * (1.0 - share)
}

fn line(points: impl Iterator<Item = (usize, f64)>) -> String {
    let points: Vec<String> =
        points.map(|(n, share)| format!("{:.1},{:.1}", x(n), y(share))).collect();
    points.join(" ")
}

/// The picture, and the figures on standard error.
pub(crate) fn svg() -> String {
    let mut measured = Vec::new();
    let mut ranges = Vec::new();
    for fragments in FRAGMENTS {
        let mut shares: Vec<f64> = (0..RUNS).map(|run| share(fragments, run)).collect();
        shares.sort_by(f64::total_cmp);
        eprintln!("{fragments} actors: {shares:.3?}");
        ranges.push((fragments, shares[0], shares[shares.len() - 1]));
        measured.push((fragments, shares[shares.len() / 2]));
    }
    let mut out = String::from(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 520 310" font-family="sans-serif" font-size="12">
<rect width="520" height="310" fill="white"/>
<text x="56" y="16">Share of the timer lane, by the number of actors a developer splits into</text>
"##,
    );
    for percent in [0, 25, 50, 75, 100] {
        let at = y(f64::from(percent) / 100.0);
        let (left, right) = (AXES.0, AXES.0 + AXES.2);
        let _ = writeln!(
            out,
            r##"<path d="M{left} {at:.1}H{right}" stroke="#ddd"/><text x="50" y="{:.1}" text-anchor="end">{percent} %</text>"##,
            at + 4.0
        );
    }
    for (fragments, share) in &measured {
        let (x, y) = (x(*fragments), y(*share));
        let _ = writeln!(
            out,
            r##"<circle cx="{x:.1}" cy="{y:.1}" r="4" fill="#1f6f8b"/><text x="{x:.1}" y="{:.1}" text-anchor="middle">{:.0} %</text><text x="{x:.1}" y="264" text-anchor="middle">{fragments}</text>"##,
            y - 9.0,
            share * 100.0
        );
    }
    for (fragments, least, most) in ranges {
        let x = x(fragments);
        let _ = writeln!(
            out,
            r##"<path d="M{x:.1} {:.1}V{:.1}" stroke="#1f6f8b"/>"##,
            y(least),
            y(most)
        );
    }
    let by_number = (1..=100).map(|n| (n, n as f64 / (n + HONEST) as f64));
    let _ = writeln!(
        out,
        r##"<polyline points="{}" fill="none" stroke="#1f6f8b"/>"##,
        line(measured.iter().copied())
    );
    let _ = writeln!(
        out,
        r##"<polyline points="{}" fill="none" stroke="#999" stroke-dasharray="4 3"/>"##,
        line(by_number)
    );
    let _ = write!(
        out,
        r##"<text x="276" y="284" text-anchor="middle">actors of the developer, against {HONEST} honest ones; {BLOCKS} full blocks</text>
<text x="276" y="302" text-anchor="middle" fill="#666">points: median of {RUNS} runs, with the least and the most; dashed: what their number alone would give</text>
</svg>"##
    );
    out
}
