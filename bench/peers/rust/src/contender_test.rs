// SPDX-License-Identifier: MIT

//! What the comparison relies on, for each contender: as tests/peers/contender_test.cpp has it.

use crate::contender::{Contender, Object};
use crate::server::CONTENDERS;
use crate::sharded::ShardedSlab;
use crate::slot_maps::{Dense, Sparse};

const ALIVE: usize = 2000;

fn contents<C: Contender>(of: &C, handle: C::Handle) -> Option<[u64; 8]> {
    of.find(handle, |object| object.words)
}

fn seeds<C: Contender>(of: &mut C) -> Vec<u64> {
    let mut found = Vec::new();
    of.for_each(|object| found.push(object.words[0]));
    found.sort_unstable();
    found
}

fn finds_what_was_created_and_not_what_was_erased<C: Contender>() {
    let mut one = C::new(ALIVE);
    let handles: Vec<C::Handle> = (0..ALIVE as u64).map(|i| one.create(10 * i)).collect();
    assert_eq!(one.size(), ALIVE);
    for (i, &handle) in handles.iter().enumerate() {
        assert_eq!(contents(&one, handle), Some(Object::new(10 * i as u64).words));
        assert!(i % 3 != 0 || one.erase(handle));
    }
    for (i, &handle) in handles.iter().enumerate() {
        assert_eq!(contents(&one, handle).is_some(), i % 3 != 0);
        assert!(i % 3 != 0 || !one.erase(handle));
    }
    assert_eq!(one.size(), ALIVE - (ALIVE + 2) / 3);
}

fn visits_each_living_object_once<C: Contender>() {
    let mut one = C::new(ALIVE);
    let mut expected: Vec<u64> = (0..ALIVE as u64).collect();
    let mut handles: Vec<C::Handle> = expected.iter().map(|&seed| one.create(seed)).collect();
    assert_eq!(seeds(&mut one), expected);
    let mut seed = ALIVE as u64;
    for frame in 0..20 {
        for i in (frame..ALIVE).step_by(10) {
            let stale = handles[i];
            assert!(one.erase(stale));
            expected[i] = seed;
            handles[i] = one.create(seed);
            assert_eq!(contents(&one, stale), None);
            seed += 1;
        }
        let mut in_order = expected.clone();
        in_order.sort_unstable();
        assert_eq!(seeds(&mut one), in_order);
        assert_eq!(one.size(), ALIVE);
    }
}

fn does_all_tasks<C: Contender + 'static>(threads: usize) {
    let entry = CONTENDERS.iter().find(|each| each.name == C::NAME).unwrap();
    let mut run = entry.workload(1000, threads).unwrap();
    assert!(run("churn", 1000).is_err()); // there is no container
    for task in ["construct", "load", "construct", "fill", "memory", "churn", "find", "iterate", "latency"] {
        for (name, value) in run(task, 3000).unwrap() {
            assert!(value.is_finite() && (value >= 0.0 || task == "memory"), "{name} {value}");
        }
    }
    assert!(run("nothing", 1).is_err());
    assert!(entry.workload(1000, 0).is_err());
}

macro_rules! tests {
    ($($module:ident $contender:ty, $threads:expr;)*) => {$(
        mod $module {
            use super::*;

            #[test]
            fn contents() {
                finds_what_was_created_and_not_what_was_erased::<$contender>();
            }
            #[test]
            fn iteration() {
                visits_each_living_object_once::<$contender>();
            }
            #[test]
            fn tasks() {
                does_all_tasks::<$contender>($threads);
            }
        }
    )*};
}

tests! {
    sharded_slab ShardedSlab, 3;
    slot_map Sparse, 1;
    dense_slot_map Dense, 1;
}

#[test]
fn a_slot_map_is_for_one_thread() {
    let entry = CONTENDERS.iter().find(|each| each.name == Sparse::NAME).unwrap();
    assert!(entry.workload(1000, 2).is_err());
}
