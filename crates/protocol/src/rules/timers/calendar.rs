//! What a single height of the calendar may hold (CIP-1 §2, SPEC §8). `chain/timers/calendar` says how
//! buckets are stored.

/// Ids in one chunk of a bucket: what scheduling rewrites stays around two kilobytes.
pub const CHUNK: u32 = 64;
/// Timers that can be scheduled for one height, cancelled ones included.
pub const BUCKET_TIMERS_MAX: u32 = 65_536;
/// Timers that can expire at one height.
pub const EXPIRING_MAX: u32 = 16_384;
