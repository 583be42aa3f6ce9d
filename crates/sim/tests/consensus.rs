//! Networks of 4 and 7 validators under faults and liars, from seeds.

use remuda_sim::consensus::{Conduct, Plan, run};

fn hold(plan: &Plan) {
    let report = run(plan);
    if let Err(error) = &report.verdict {
        panic!("seed {}: {error}\n{plan:#?}", plan.seed);
    }
    println!("seed {}: {:?}", plan.seed, report.verdict);
}

#[test]
fn honest_validators_agree() {
    let plan = Plan { liars: Vec::new(), faults: Vec::new(), ..Plan::from_seed(1) };
    hold(&plan);
}

#[test]
fn every_liar_is_survived() {
    for (seed, conduct) in (100..).zip(Conduct::ALL) {
        println!("{}", conduct.name());
        hold(&Plan::with_liar(seed, 4, *conduct));
    }
}

#[test]
fn seeds() {
    for seed in 0..5 {
        hold(&Plan::from_seed(seed));
    }
}
