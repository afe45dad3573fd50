//! The one place that runs what the compiler wrote.
#![allow(unsafe_code)]

use memmap2::{Mmap, MmapMut};

/// Code in executable memory. It is never written again, and a run changes only the frame and the tile records that it is
/// given: workers share the code and run it at the same time, each with a frame and records of its own.
#[derive(Debug)]
pub(super) struct Executable {
    memory: Mmap,
}

/// The frame's address, the first tile's record, one past the last record; the result is 0, or a [`DeoptReason`] and its
/// access site.
///
/// [`DeoptReason`]: super::emit::DeoptReason
#[cfg(target_arch = "x86_64")]
type Entry = unsafe extern "sysv64" fn(*mut u8, *mut u64, *mut u64) -> u64;
/// The same on AArch64; other processors have no code.
#[cfg(not(target_arch = "x86_64"))]
type Entry = unsafe extern "C" fn(*mut u8, *mut u64, *mut u64) -> u64;

impl Executable {
    /// Copies code into memory of its own, which can be executed and no longer written. `None` where the system
    /// does not allow it.
    pub(super) fn new(code: &[u8]) -> Option<Executable> {
        let mut memory = MmapMut::map_anon(code.len().max(1)).ok()?;
        memory[..code.len()].copy_from_slice(code);
        make_visible(&memory);
        Some(Executable { memory: memory.make_exec().ok()? })
    }

    /// Bytes of code.
    pub(super) fn bytes(&self) -> usize {
        self.memory.len()
    }

    /// Runs the code over the tiles' records, from the one at a word on, and returns its result.
    ///
    /// The code is [`emit::region`](super::emit::region)'s, the frame is the one planned with it, and every address in the
    /// frame and the records is valid. Only [`CodeInstance`](super::CodeInstance) calls this; it keeps the three together
    /// and is borrowed exclusively meanwhile.
    pub(super) fn run(&self, frame: &mut [FrameChunk], records: &mut [u64], from: usize) -> u64 {
        let entry = self.memory.as_ptr();
        // SAFETY: the memory holds a whole function of this signature from its first byte on, and lives as long as
        // `self`: `emit::region` begins with the prologue.
        let function = unsafe { core::mem::transmute::<*const u8, Entry>(entry) };
        assert!(from <= records.len());
        let range = records.as_mut_ptr_range();
        forget_fetched();
        // SAFETY: regions are compiled only where `is_available` found the instructions that they use. The function keeps
        // the calling convention: it saves the callee-saved registers that it changes, leaves the floating-point environment as it
        // found it, and with x86-64 clears the upper halves of vectors. It touches
        // - the frame, at the offsets that were reserved in it, aligned as `FrameChunk` is;
        // - the records, whole ones, from the first to the end given; `from` is in the slice;
        // - the columns of registers whose addresses the caller has written into the frame, at lanes of the tiles: columns
        //   have room for all lanes of a batch, and the caller keeps them and holds them exclusively meanwhile;
        // - shared memory, each access checked against its size, at the address of the tile's block;
        // - segments, each access checked against bounds and alignment of the segment in its inline cache. Where another
        //   thread may use a segment at the same time its words are atomics: the code's accesses are aligned plain ones of
        //   1, 2, 4 or 8 bytes, or vectors of such elements, each of which the processor moves whole, as relaxed atomics are:
        //   x86-64 always, AArch64 in the instructions that are used, those that name the element's size (`ld1`, `st1`). A
        //   gather of 1 or 2 bytes loads the aligned word around them, which belongs to the segment or to shared memory:
        //   both are whole words. A gather of pairs loads two aligned elements as one. A prefetch may have any address. A segment held for reading is never
        //   stored to: it never enters the inline cache of a store.
        unsafe { function(frame.as_mut_ptr().cast(), range.start.add(from), range.end) }
    }
}

/// Instructions that were just written to memory are what any thread executes there. AArch64 fetches them past what the data
/// caches hold.
#[cfg(target_arch = "aarch64")]
fn make_visible(code: &[u8]) {
    use core::arch::asm;
    let lines = |length: usize| {
        let start = code.as_ptr() as usize;
        (start & !(length - 1)..start + code.len()).step_by(length)
    };
    let types: u64;
    // SAFETY: reads a register that programs may read, and changes nothing but caches, in lines that have a byte of the slice:
    // they are written to memory, then instructions are fetched anew from there; each barrier waits for what is before it.
    unsafe {
        asm!("mrs {}, ctr_el0", out(reg) types, options(nostack, preserves_flags));
        // The lengths of lines, as powers of two of 4 bytes.
        for line in lines(4 << (types >> 16 & 15)) {
            asm!("dc cvau, {}", in(reg) line, options(nostack, preserves_flags));
        }
        asm!("dsb ish", options(nostack, preserves_flags));
        for line in lines(4 << (types & 15)) {
            asm!("ic ivau, {}", in(reg) line, options(nostack, preserves_flags));
        }
        asm!("dsb ish", options(nostack, preserves_flags));
    }
}
#[cfg(not(target_arch = "aarch64"))]
fn make_visible(_: &[u8]) {}

/// This thread executes no instruction that it fetched before others became visible.
#[cfg(target_arch = "aarch64")]
fn forget_fetched() {
    // SAFETY: empties the processor's pipeline only.
    unsafe { core::arch::asm!("isb", options(nostack, preserves_flags)) };
}
#[cfg(not(target_arch = "aarch64"))]
fn forget_fetched() {}

/// 64 bytes of the frame, aligned for vector accesses.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct FrameChunk(pub(super) [u8; 64]);

/// Sets a word of a frame.
pub(super) fn put(frame: &mut [FrameChunk], at: i64, value: u64) {
    let (chunk, offset) = (at as usize / 64, at as usize % 64);
    frame[chunk].0[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
}
