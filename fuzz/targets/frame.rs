#![no_main]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What may be held at a time. Inputs have 16 KiB; a list that lies about its length costs at most
/// one megabyte, and no frame has more than four of them.
const HELD_MAX: usize = 8 << 20;

/// A length is refused before it is allocated, or else this sees it.
struct Watch(AtomicUsize);

#[global_allocator]
static WATCH: Watch = Watch(AtomicUsize::new(0));

// SAFETY: all the work is the system's.
unsafe impl GlobalAlloc for Watch {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = self.0.fetch_add(layout.size(), Relaxed).saturating_add(layout.size());
        if held > HELD_MAX {
            std::process::abort();
        }
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        self.0.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    remuda_link::fuzz::frame(data);
});
