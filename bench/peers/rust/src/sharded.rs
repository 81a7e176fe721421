// SPDX-License-Identifier: MIT
use crate::contender::{Contender, Object};
use sharded_slab::Slab;

pub struct ShardedSlab {
    slab: Slab<Object>,
}

impl Contender for ShardedSlab {
    type Handle = usize;

    const NAME: &'static str = "sharded_slab::Slab";
    const MOST_THREADS: u32 = u32::MAX;

    fn new(_alive: usize) -> Self {
        ShardedSlab { slab: Slab::new() }
    }
    #[inline]
    fn create(&self, seed: u64) -> usize {
        self.slab.insert(Object::new(seed)).expect("the slab is full")
    }
    #[inline]
    fn erase(&self, handle: usize) -> bool {
        self.slab.remove(handle)
    }
    #[inline]
    fn find<Found>(&self, handle: usize, visit: impl FnOnce(&Object) -> Found) -> Option<Found> {
        self.slab.get(handle).map(|object| visit(&object))
    }
    // unique_iter() panics in a slab that never had an object.
    fn for_each(&mut self, visit: impl FnMut(&Object)) {
        self.slab.unique_iter().for_each(visit);
    }
    fn size(&mut self) -> usize {
        self.slab.unique_iter().count()
    }
}
