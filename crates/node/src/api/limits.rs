//! Every limit on what the outside may ask of a node, beside its reason.

use std::time::Duration;

/// What the outside may ask. One per process, not part of the chain.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of a body: a batch of large transactions in hex, no more.
    pub body_bytes: usize,
    /// From the first byte of a request to the first byte of its answer, the body's way included.
    pub request: Duration,
    /// A peer's time for its headers; also how long an idle connection stays.
    pub headers: Duration,
    /// A peer that takes nothing for so long is gone.
    pub write_stall: Duration,
    /// Bytes per second that a peer must take on average while it is written to; over a long answer
    /// it may dawdle no longer than `write_stall` beyond that.
    pub write_rate: u32,
    /// Bytes of all bodies that are being read. Only large ones are counted, and one address gets
    /// an eighth.
    pub all_bodies_bytes: usize,
    /// Bytes of all answers that are being written. Only large ones are counted, and one address
    /// gets an eighth.
    pub all_answers_bytes: usize,
    /// Connections at a time. Each costs a task and two buffers.
    pub connections: usize,
    /// Connections at a time from one address.
    pub connections_per_ip: usize,
    /// Requests that one address may make at once.
    pub burst: u32,
    /// Requests per second that one address may go on making.
    pub per_second: u32,
    /// KiB of blocks and answers that one address may read at once.
    pub read_burst_kib: u32,
    /// KiB per second that one address may go on reading.
    pub read_kib_per_second: u32,
    /// Requests at a time, from all addresses, that read many blocks each.
    pub readers: usize,
    /// The same from one address.
    pub readers_per_ip: usize,
    /// Addresses that are told apart; all beyond share one allowance.
    pub addresses: usize,
    /// Event streams at a time.
    pub streams: usize,
    /// Event streams at a time from one address.
    pub streams_per_ip: usize,
    /// Blocks that a reader of a stream may fall behind after it had caught up.
    pub stream_lag: u64,
    /// Blocks of the past that all streams of one address may read at once.
    pub past_burst: u32,
    /// Blocks of the past per second that they may go on reading.
    pub past_per_second: u32,
    /// Time between two comments on a quiet stream.
    pub stream_heartbeat: Duration,
    /// Transactions in one batch. Each costs a signature check.
    pub batch: usize,
    /// How long a submission may wait for its block.
    pub wait: Duration,
    pub page: u32,
    /// Blocks that one history is gathered from.
    pub history_blocks: usize,
    /// Bytes of blocks after which no further block is read for one history.
    pub history_bytes: u64,
    /// Bytes of a state key in a path; the longest is that of an actor's entry, 277.
    pub key_bytes: usize,
    /// What the faucet gives, in CBY: enough for a runner's stake and some jobs.
    pub faucet_cby: u128,
    /// Gifts that one address of the network, or one account, gets at once.
    pub faucet_burst: u32,
    /// Time until the next gift.
    pub faucet_every: Duration,
    /// Time for open requests to end when the node stops.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 2 * 1024 * 1024,
            request: Duration::from_secs(45),
            headers: Duration::from_secs(30),
            write_stall: Duration::from_secs(30),
            write_rate: 16 * 1024,
            all_bodies_bytes: 128 * 1024 * 1024,
            all_answers_bytes: 256 * 1024 * 1024,
            connections: 1_024,
            connections_per_ip: 256,
            burst: 200,
            per_second: 100,
            read_burst_kib: 64 * 1024,
            read_kib_per_second: 8 * 1024,
            readers: 16,
            readers_per_ip: 2,
            addresses: 10_000,
            streams: 256,
            streams_per_ip: 16,
            stream_lag: 256,
            past_burst: 1_000,
            past_per_second: 200,
            stream_heartbeat: Duration::from_secs(10),
            batch: 64,
            wait: Duration::from_secs(30),
            page: 200,
            history_blocks: 1_024,
            history_bytes: 32 * 1024 * 1024,
            key_bytes: 280,
            faucet_cby: 50_000,
            faucet_burst: 3,
            faucet_every: Duration::from_secs(60),
            drain: Duration::from_secs(10),
        }
    }
}
