//! A runner, as short as the protocol allows.

use remuda_fleet::id::{LeaseId, RunnerId};
use remuda_fleet::message::CompleteStatus;

/// What it is doing. In every state but `Idle` and `Working` it waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Runner {
    Idle,
    Asking,
    Acking(LeaseId),
    /// And how often it has beaten.
    Working(LeaseId, u8),
    /// Waits for the answer to a heartbeat.
    Beating(LeaseId, u8),
    Completing(LeaseId, CompleteStatus),
    Stopping(LeaseId),
}

/// What runners send.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Up {
    Lease,
    Ack(LeaseId),
    Beat(LeaseId, u8),
    Complete(LeaseId, CompleteStatus),
    CancelAck(LeaseId),
}

/// What the orchestrator sends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Down {
    Granted(LeaseId),
    NoWork,
    Acked(LeaseId),
    Beat(LeaseId, bool),
    Final(LeaseId),
    Cancel(LeaseId),
    Stale(LeaseId),
    /// Any other error: this message will not be answered better next time.
    Refused(Option<LeaseId>),
}

/// Something under way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Packet {
    Up(RunnerId, Up),
    Down(RunnerId, Down),
}

impl Runner {
    fn lease(&self) -> Option<&LeaseId> {
        match self {
            Self::Idle | Self::Asking => None,
            Self::Acking(lease) | Self::Working(lease, _) | Self::Beating(lease, _) => Some(lease),
            Self::Completing(lease, _) | Self::Stopping(lease) => Some(lease),
        }
    }

    pub fn works_on(&self, lease: &LeaseId) -> bool {
        matches!(self, Self::Working(mine, _) | Self::Beating(mine, _) if mine == lease)
    }

    /// What it sends, now or again, while it waits.
    pub fn sends(&self) -> Option<Up> {
        Some(match self.clone() {
            Self::Idle | Self::Working(..) => return None,
            Self::Asking => Up::Lease,
            Self::Acking(lease) => Up::Ack(lease),
            Self::Beating(lease, beat) => Up::Beat(lease, beat),
            Self::Completing(lease, status) => Up::Complete(lease, status),
            Self::Stopping(lease) => Up::CancelAck(lease),
        })
    }

    /// Takes a message; one that it does not wait for changes nothing.
    pub fn receive(&self, message: Down) -> Self {
        match (self.clone(), message) {
            (Self::Asking, Down::Granted(lease)) => Self::Acking(lease),
            (Self::Asking, Down::NoWork | Down::Refused(None)) => Self::Idle,
            (Self::Acking(mine), Down::Acked(lease)) if mine == lease => Self::Working(lease, 0),
            (Self::Beating(mine, beats), Down::Beat(lease, canceled)) if mine == lease => {
                match canceled {
                    true => Self::Stopping(lease),
                    false => Self::Working(lease, beats),
                }
            }
            (Self::Working(mine, _), Down::Cancel(lease)) if mine == lease => Self::Stopping(lease),
            (Self::Completing(mine, _) | Self::Stopping(mine), Down::Final(lease))
                if mine == lease =>
            {
                Self::Idle
            }
            (_, Down::Stale(lease)) if self.lease() == Some(&lease) => Self::Idle,
            (_, Down::Refused(Some(lease))) if self.lease() == Some(&lease) => Self::Idle,
            (other, _) => other,
        }
    }
}
