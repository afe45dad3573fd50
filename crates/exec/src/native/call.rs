//! The one place that runs what the compiler wrote.
#![allow(unsafe_code)]

use memmap2::{Mmap, MmapMut};

/// Code in executable memory. Nothing writes it once it is there, and what a run changes are the frame and the lines that
/// it is given: workers share it and run it at the same time, each with its own.
#[derive(Debug)]
pub(super) struct Executable {
    memory: Mmap,
}

/// The frame's address, the first tile's line, one past the last; what the code says in the end.
#[cfg(target_arch = "x86_64")]
type Entry = unsafe extern "sysv64" fn(*mut u8, *mut u64, *mut u64) -> u64;
/// Other machines have no code.
#[cfg(not(target_arch = "x86_64"))]
type Entry = unsafe extern "C" fn(*mut u8, *mut u64, *mut u64) -> u64;

impl Executable {
    /// Copies code into memory of its own, which can be executed and no longer written. `None` where the system
    /// does not allow it.
    pub(super) fn new(code: &[u8]) -> Option<Executable> {
        let mut memory = MmapMut::map_anon(code.len().max(1)).ok()?;
        memory[..code.len()].copy_from_slice(code);
        Some(Executable { memory: memory.make_exec().ok()? })
    }

    /// Runs the code over tiles' lines; what it says in the end.
    ///
    /// The code is [`emit::region`](super::emit::region)'s, the frame is the one planned with it, and what the frame and the
    /// lines name is there: [`Piece`](super::Piece) alone calls this, and keeps the three together; it is held exclusively meanwhile.
    pub(super) fn run(&self, frame: &mut [Aligned], lines: &mut [u64]) -> u64 {
        let entry = self.memory.as_ptr();
        // SAFETY: the memory holds a whole function of this signature from its first byte on, and lives as long as
        // `self`: `emit::region` begins with the prologue.
        let function = unsafe { core::mem::transmute::<*const u8, Entry>(entry) };
        let range = lines.as_mut_ptr_range();
        // SAFETY: pieces are compiled only where `is_available` found the instructions that they use. The function keeps
        // the calling convention: it saves what it must, leaves the floating-point environment as it found it, and clears
        // the upper halves of vectors. It touches
        // - the frame, at the offsets that were reserved in it, aligned as `Aligned` is;
        // - the lines, whole ones, between the two ends given;
        // - the columns of registers whose addresses the caller has just written into the frame, at lanes of the tiles:
        //   columns have room for all lanes of a group, and the caller holds them exclusively meanwhile;
        // - shared memory, each access checked against its size, at the address of the tile's block;
        // - segments, each access checked against bounds and alignment of the segment that the site knows. Where another
        //   thread may use a segment at the same time its words are atomics: the code's accesses are aligned plain ones of
        //   4 or 8 bytes, or vectors of such elements, each of which x86-64 moves whole, as relaxed atomics are. A segment
        //   held for reading is never stored to: its sites are not told of it.
        unsafe { function(frame.as_mut_ptr().cast(), range.start, range.end) }
    }
}

/// A line of the frame, aligned as vectors want it.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Aligned(pub(super) [u8; 64]);
