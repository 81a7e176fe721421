// SPDX-License-Identifier: MIT
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread::JoinHandle;
use std::time::Instant;

type Task = *const (dyn Fn(usize) + Sync);

struct Shared {
    begin: Barrier,
    end: Barrier,
    size: usize,
    // Written by the thread that asks, before `begin`; read by the others after it.
    task: UnsafeCell<Option<Task>>,
    arrived: AtomicUsize,
    spans: Vec<Mutex<Option<(Instant, Instant)>>>,
}

// Safety: what is no atomic and no mutex is passed on by the barriers.
unsafe impl Sync for Shared {}
unsafe impl Send for Shared {}

/// Some threads, the calling one among them, that do the same thing at the same time. They meet before each task, so
/// that neither their start nor their waking up is measured.
pub struct Team {
    shared: Arc<Shared>,
    helpers: Vec<JoinHandle<()>>,
}

impl Team {
    pub fn new(size: usize) -> Self {
        let shared = Arc::new(Shared {
            begin: Barrier::new(size),
            end: Barrier::new(size),
            size,
            task: UnsafeCell::new(None),
            arrived: AtomicUsize::new(0),
            spans: (0..size).map(|_| Mutex::new(None)).collect(),
        });
        let helpers = (0..size - 1)
            .map(|thread| {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || loop {
                    shared.begin.wait();
                    match unsafe { *shared.task.get() } {
                        Some(task) => shared.call(thread, task),
                        None => return,
                    }
                    shared.end.wait();
                })
            })
            .collect();
        Team { shared, helpers }
    }

    pub fn size(&self) -> usize {
        self.shared.size
    }

    /// Calls `task(thread)` in all threads; returns the nanoseconds from the first one's start to the last one's end.
    pub fn run(&self, task: &(dyn Fn(usize) + Sync)) -> f64 {
        let shared = &*self.shared;
        shared.arrived.store(0, Ordering::Relaxed); // carried by the barrier
        // Safety: the task outlives all calls, which end before this one.
        let task = unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), Task>(task) };
        unsafe { *shared.task.get() = Some(task) };
        shared.begin.wait();
        shared.call(shared.size - 1, task);
        shared.end.wait();
        let spans: Vec<(Instant, Instant)> =
            shared.spans.iter().map(|span| span.lock().unwrap().expect("a thread failed")).collect();
        let start = spans.iter().map(|span| span.0).min().unwrap();
        let end = spans.iter().map(|span| span.1).max().unwrap();
        end.duration_since(start).as_nanos() as f64
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        unsafe { *self.shared.task.get() = None };
        self.shared.begin.wait();
        for helper in self.helpers.drain(..) {
            helper.join().unwrap();
        }
    }
}

impl Shared {
    fn call(&self, thread: usize, task: Task) {
        self.meet();
        let start = Instant::now();
        unsafe { (*task)(thread) };
        let end = Instant::now();
        *self.spans[thread].lock().unwrap() = Some((start, end));
    }

    /// Spins, so that what follows starts in all threads at nearly the same moment.
    fn meet(&self) {
        self.arrived.fetch_add(1, Ordering::SeqCst);
        let mut spins = 0;
        while self.arrived.load(Ordering::SeqCst) < self.size {
            spins += 1;
            if spins > 1000 {
                std::thread::yield_now(); // more threads than processors
            }
        }
    }
}
