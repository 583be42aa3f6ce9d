//! The API's JSON, one file per resource. Node and client share these types, so they cannot
//! disagree. Enums are written as `{"Name":{…}}`, the form that SPEC §16 gives jobs and checks.

mod account;
mod actor;
mod block;
mod entitlement;
mod error;
mod event;
mod history;
mod job;
mod params;
mod presence;
mod proof;
mod receipt;
mod runner;
mod scalar;
mod spec;
mod status;
mod stream;
mod submit;
mod timer;
mod transaction;
mod validator;
mod view;

pub use account::AccountView;
pub use actor::{ActorEntry, ActorLogs, ActorState, ActorView};
pub use block::{AttestationView, BlockView, CertificateView, StateCommitmentView};
pub use entitlement::{
    ActionText, ConstraintsView, EntitlementView, EntitlementsView, NoName, PoolName, PoolView,
    RateLimitView, RoleView, ScopeText,
};
pub use error::{ApiError, code};
pub use event::{EventBody, ExcuseName, FailureName, RootView, SignalName, Subject};
pub use history::{DrawView, HistoryEntry, JobHistory, JobReceipt, RunnerJobs};
pub use job::{
    BondView, JobRecords, JobStatusView, JobSummary, JobView, JobsPage, ProgressView, ResultView,
    SeatView, SnapshotView,
};
pub use params::{ParameterView, ParamsView};
pub use presence::{AttesterView, PresenceRow, PresenceView};
pub use proof::ProofView;
pub use receipt::{CauseName, ReceiptView, RefusalView, UsageView};
pub use runner::{MembershipView, OfferView, RatesView, RunnerStatusName, RunnerView, RunnersPage};
pub use scalar::{BigUint, HexAddress, HexBytes, HexHash, JobPlace, SAFE_MAX, ScalarError, Uint};
pub use spec::{
    BoundsView, CallbackView, CheckView, DecimalText, FormatName, HeaderView, JobSpecView,
    JobTypeView, KindName, MessageView, ModeName, ResultSchemaView, SpecError, VerificationView,
};
pub use status::{BasefeesView, HealthView, StatusView, ValidatorView};
pub use stream::{EventView, Occurrence, ProgressNews, StreamEnd, message};
pub use submit::{
    FaucetRequest, FaucetResponse, PartsError, RunnerInstruction, RunnerPost, RunnerPosted,
    SignedParts, SubmitRequest, SubmitResponse, SubmitStatus, Submitted,
};
pub use timer::{ScheduleTimerView, TimerConfigView, TimerView, TimersView};
pub use transaction::{
    BidView, DeliveryView, InstructionView, RevealView, TransactionStatus, TransactionStatusView,
    TransactionView,
};
pub use validator::{HandedOver, HandoverPost, RunnerValidator, RunnerValidators};
