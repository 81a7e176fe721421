// SPDX-License-Identifier: MIT

/// What all containers hold: 64 bytes, written in full.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Object {
    pub words: [u64; 8],
}

impl Object {
    pub fn new(seed: u64) -> Object {
        let mut words = [0; 8];
        for (word, i) in words.iter_mut().zip(0..) {
            *word = seed + i;
        }
        Object { words }
    }
}

/// The same in a cache line of its own, for containers where that costs no memory.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct AlignedObject(pub Object);

/// A container as the workloads see it: as the C++ program's contenders.
pub trait Contender: Sync {
    type Handle: Copy + Default + Send + Sync;

    const NAME: &'static str;
    const MOST_THREADS: u32;

    fn new(alive: usize) -> Self;
    /// The handle of a new object.
    fn create(&self, seed: u64) -> Self::Handle;
    /// Was the object alive?
    fn erase(&self, handle: Self::Handle) -> bool;
    /// Calls `visit` on the object, if it is alive.
    fn find<Found>(&self, handle: Self::Handle, visit: impl FnOnce(&Object) -> Found) -> Option<Found>;
    /// Visits all living objects.
    fn for_each(&mut self, visit: impl FnMut(&Object));
    fn size(&mut self) -> usize;
}
