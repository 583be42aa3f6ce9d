//! The pool against a real chain: what it picks goes into blocks, what it refuses says why.

#[path = "mempool/door.rs"]
mod door;
#[path = "mempool/model.rs"]
mod model;
#[path = "mempool/order.rs"]
mod order;
#[path = "mempool/outlays.rs"]
mod outlays;
#[path = "mempool/refusals.rs"]
mod refusals;
#[path = "mempool/scale.rs"]
mod scale;
#[path = "mempool/waiting.rs"]
mod waiting;
#[path = "mempool/world.rs"]
mod world;
