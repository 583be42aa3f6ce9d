//! When nodes are asked, and for what.

/// Rounds of questions for the chain, the account and the open jobs.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    last_ms: u64,
    requested: bool,
    /// The question for the chain is not answered yet.
    in_flight: bool,
}

impl Rounds {
    /// The first round is due at once.
    pub(super) fn new() -> Self {
        Self { requested: true, ..Self::default() }
    }

    pub(super) fn request(&mut self) {
        self.requested = true;
    }

    /// Whether a requested round may begin, or none was requested for too long.
    pub(super) fn due(&self, now_ms: u64, spacing_ms: u64, idle_ms: u64) -> bool {
        let waited = now_ms.saturating_sub(self.last_ms);
        (self.requested && waited >= spacing_ms) || waited >= idle_ms
    }

    /// Begins a round. Returns whether to ask for the chain.
    pub(super) fn begin(&mut self, now_ms: u64) -> bool {
        let ask = !self.in_flight;
        *self = Self { last_ms: now_ms, requested: false, in_flight: true };
        ask
    }

    pub(super) fn answered(&mut self) {
        self.in_flight = false;
    }
}

/// Asked at intervals of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Validators,
    Registration,
    AssignedJobs,
}

/// The answers to [`Question::AssignedJobs`] so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Polling {
    Unanswered,
    Answered,
    /// The chain has ended polling: sessions are enough.
    Over,
}

#[derive(Debug)]
pub(super) struct Questions {
    /// Heights at which each was asked last.
    asked: [Option<u64>; 3],
    pub(super) polling: Polling,
}

impl Default for Questions {
    fn default() -> Self {
        Self { asked: [None; 3], polling: Polling::Unanswered }
    }
}

impl Questions {
    /// Whether to ask now, if it is asked `every` so many blocks.
    pub(super) fn due(&mut self, question: Question, every: u64, height: u64) -> bool {
        let over = question == Question::AssignedJobs && self.polling == Polling::Over;
        let asked = &mut self.asked[question as usize];
        let due = !over && asked.is_none_or(|at| height >= at.saturating_add(every));
        if due {
            *asked = Some(height);
        }
        due
    }

    /// Asks again at the next block.
    pub(super) fn repeat(&mut self, question: Question) {
        self.asked[question as usize] = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_spaced_and_ask_for_the_chain_once_at_a_time() {
        let mut rounds = Rounds::new();
        assert!(!rounds.due(9, 10, 100) && rounds.due(10, 10, 100));
        assert!(rounds.begin(10));
        assert!(!rounds.due(109, 10, 100) && rounds.due(110, 10, 100), "nothing was requested");
        rounds.request();
        assert!(!rounds.due(19, 10, 100) && rounds.due(20, 10, 100));
        assert!(!rounds.begin(20), "the last answer is outstanding");
        rounds.answered();
        assert!(rounds.begin(30));
    }

    #[test]
    fn questions_have_intervals_and_polling_may_end() {
        let mut questions = Questions::default();
        assert!(questions.due(Question::Validators, 30, 100));
        assert!(!questions.due(Question::Validators, 30, 129));
        assert!(questions.due(Question::Validators, 30, 130));
        questions.repeat(Question::Validators);
        assert!(questions.due(Question::Validators, 30, 131));
        questions.polling = Polling::Over;
        assert!(!questions.due(Question::AssignedJobs, 1, 131));
    }
}
