// SPDX-License-Identifier: MIT
use crate::contender::{AlignedObject, Contender, Object};
use slotmap::{DefaultKey, DenseSlotMap, SlotMap};
use std::cell::UnsafeCell;

/// Two containers with the same functions, bare: for one thread, which the server makes sure of.
macro_rules! one_thread {
    ($name:ident, $map:ident, $value:ty, $text:literal, $make:expr, $object:expr) => {
        pub struct $name {
            map: UnsafeCell<$map<DefaultKey, $value>>,
        }

        // Safety: MOST_THREADS is 1, so one thread at a time calls its functions, none of which calls another.
        unsafe impl Sync for $name {}

        impl $name {
            #[allow(clippy::mut_from_ref)]
            fn map(&self) -> &mut $map<DefaultKey, $value> {
                unsafe { &mut *self.map.get() }
            }
        }

        impl Contender for $name {
            type Handle = DefaultKey;

            const NAME: &'static str = $text;
            const MOST_THREADS: u32 = 1;

            fn new(alive: usize) -> Self {
                $name { map: UnsafeCell::new($map::with_capacity(alive)) }
            }
            #[inline]
            fn create(&self, seed: u64) -> DefaultKey {
                self.map().insert($make(Object::new(seed)))
            }
            #[inline]
            fn erase(&self, handle: DefaultKey) -> bool {
                self.map().remove(handle).is_some()
            }
            #[inline]
            fn find<Found>(&self, handle: DefaultKey, visit: impl FnOnce(&Object) -> Found) -> Option<Found> {
                self.map().get(handle).map(|value| visit($object(value)))
            }
            fn for_each(&mut self, mut visit: impl FnMut(&Object)) {
                self.map().values().for_each(|value| visit($object(value)));
            }
            fn size(&mut self) -> usize {
                self.map().len()
            }
        }
    };
}

fn as_it_is<T>(object: T) -> T {
    object
}

fn inside(aligned: &AlignedObject) -> &Object {
    &aligned.0
}

// Its values stand beside their versions: aligned, each would take 128 bytes.
one_thread!(Sparse, SlotMap, Object, "slotmap::SlotMap", as_it_is, as_it_is);
one_thread!(Dense, DenseSlotMap, AlignedObject, "slotmap::DenseSlotMap", AlignedObject, inside);
