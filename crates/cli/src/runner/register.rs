//! What `remuda runner register` looks at before anything is sent: a refusal costs a fee, and says less.

use crate::failure::Failure;
use crate::format::cby;
use crate::send::SendArgs;
use crate::session::Session;
use remuda_client::types::{HexAddress, ParamsView, RunnerStatusName};
use remuda_protocol::primitives::Amount;
use remuda_protocol::transaction::Instruction;
use std::path::Path;

/// Whether the chain would take it, as far as that can be told.
pub(super) async fn check(
    session: &Session,
    args: &SendArgs,
    file: &Path,
    instruction: &Instruction,
) -> Result<(), Failure> {
    let Instruction::RegisterRunner { stake, offer } = instruction else { return Ok(()) };
    let address = args.key.read()?.address();
    match session.client.runner(address).await {
        Ok(runner) if runner.status != RunnerStatusName::Deregistered => {
            let (file, key) = (file.to_owned(), args.key.path().to_owned());
            return Err(Failure::Registered { address: HexAddress(address), file, key });
        }
        Err(error) if !error.is_not_found() => return Err(error.into()),
        _ => {}
    }
    let least = least(&session.client.params().await?);
    enough(*stake, offer.declared_max_job_value, least)
}

fn least(params: &ParamsView) -> Amount {
    let row = params.params.iter().find(|row| row.key == "system:cip2:min_stake");
    Amount(row.map_or(0, |row| row.value.0))
}

/// The chain's floor: max(MIN_STAKE, 1.5 times the declared value).
fn enough(stake: Amount, declared: Amount, least: Amount) -> Result<(), Failure> {
    let value = declared.get().saturating_mul(3).div_ceil(2);
    let floor = Amount(least.get().max(value));
    if stake >= floor {
        return Ok(());
    }
    let [stake, floor, least, declared] = [stake, floor, least, declared].map(cby);
    Err(Failure::StakeTooLow { stake, floor, least, declared })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_stake_is_told_in_numbers() {
        let least = Amount::cby(10_000);
        assert!(enough(Amount::cby(10_000), Amount::cby(100), least).is_ok());
        let words = enough(Amount::cby(9_999), Amount::cby(100), least).unwrap_err().to_string();
        assert!(words.contains("9,999 CBY") && words.contains("at least 10,000 CBY"), "{words}");
        let words = enough(Amount::cby(10_000), Amount::cby(8_000), least).unwrap_err().to_string();
        assert!(words.contains("at least 12,000 CBY") && words.contains("8,000 CBY"), "{words}");
    }
}
