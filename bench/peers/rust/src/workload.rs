// SPDX-License-Identifier: MIT
use crate::contender::Contender;
use crate::latencies::{add_quantiles, Latencies};
use crate::random::RandomNumbers;
use crate::resident::resident_bytes;
use crate::team::Team;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::Instant;

/// What a task measured, each figure by its name.
pub type Figures = Vec<(String, f64)>;

/// The handles of all objects, of which each thread changes its part.
struct Handles<Handle> {
    all: UnsafeCell<Vec<Handle>>,
    threads: usize,
}

// Safety: parts of different threads don't overlap.
unsafe impl<Handle: Send> Sync for Handles<Handle> {}

impl<Handle> Handles<Handle> {
    fn all(&mut self) -> &mut Vec<Handle> {
        self.all.get_mut()
    }

    /// Safety: while threads run, each asks for its own part of the same `count`.
    #[allow(clippy::mut_from_ref)]
    unsafe fn part(&self, thread: usize, count: usize) -> &mut [Handle] {
        let size = count / self.threads;
        &mut (&mut *self.all.get())[thread * size..(thread + 1) * size]
    }
}

/// The tasks of the comparison on one contender, as in the C++ program's workload.hpp, which explains them.
pub struct Workload<C: Contender> {
    alive: usize,
    replaced: usize,
    handles: Handles<C::Handle>,
    random: RandomNumbers,
    team: Team,
    resident_before: u64,
    contender: Option<C>,
}

/// The value, of which the compiler knows nothing afterwards, so that it can't leave out what made it.
fn keep<T: Copy>(value: T) -> T {
    // Safety: it is read where it is.
    unsafe { std::ptr::read_volatile(&value) }
}

fn nanoseconds(start: Instant, end: Instant) -> f64 {
    end.duration_since(start).as_nanos() as f64
}

fn times_to_reach(wanted: usize, each: usize) -> usize {
    (wanted / each).max(1)
}

fn figure(name: &str, sum: f64, count: usize) -> (String, f64) {
    (name.to_string(), sum / count as f64)
}

fn require(holds: bool, otherwise: &str) -> Result<(), String> {
    holds.then_some(()).ok_or_else(|| otherwise.to_string())
}

impl<C: Contender> Workload<C> {
    pub fn new(alive: usize, threads: usize) -> Result<Self, String> {
        let mut handles = Vec::with_capacity(alive);
        handles.resize_with(alive, || keep(C::Handle::default())); // written, and so resident
        Ok(Workload {
            alive,
            replaced: (alive / 10).max(threads),
            handles: Handles { all: UnsafeCell::new(handles), threads },
            random: RandomNumbers::new(20240229),
            team: Team::new(threads),
            resident_before: resident_bytes()?,
            contender: None,
        })
    }

    /// Does a task by its name.
    pub fn run(&mut self, task: &str, count: usize) -> Result<Figures, String> {
        if task != "construct" && self.contender.is_none() {
            return Err(format!("the task '{task}' comes after 'construct'"));
        }
        match task {
            "construct" => self.construct(),
            "load" => self.load(),
            "fill" => self.fill(count),
            "memory" => self.memory(),
            "churn" => self.churn(count),
            "find" => self.find(count),
            "iterate" => self.iterate(count),
            "latency" => self.latency(count),
            _ => Err(format!("there is no task '{task}'")),
        }
    }

    fn construct(&mut self) -> Result<Figures, String> {
        let start = Instant::now();
        self.contender = Some(C::new(self.alive));
        Ok(vec![figure("construct", nanoseconds(start, Instant::now()), 1)])
    }

    fn load(&mut self) -> Result<Figures, String> {
        let contender = self.contender.as_ref().unwrap();
        let start = Instant::now();
        for (each, seed) in self.handles.all().iter_mut().zip(1..) {
            *each = contender.create(seed);
        }
        let spent = nanoseconds(start, Instant::now());
        self.require_size()?;
        Ok(vec![figure("load", spent, self.alive), figure("load_create", spent, self.alive)])
    }

    fn fill(&mut self, frames: usize) -> Result<Figures, String> {
        self.load()?;
        for frame in 0..frames {
            self.shuffle(self.replaced);
            self.erase_tenth()?;
            self.create_tenth(frame);
        }
        self.require_size()?;
        Ok(vec![])
    }

    fn memory(&mut self) -> Result<Figures, String> {
        let all = resident_bytes()? as f64 - self.resident_before as f64;
        Ok(vec![("beside".to_string(), all / self.alive as f64 - 64.0)])
    }

    fn churn(&mut self, objects: usize) -> Result<Figures, String> {
        let frames = times_to_reach(objects, self.replaced);
        let (mut erase, mut create) = (0.0, 0.0);
        for frame in 0..frames {
            self.shuffle(self.replaced);
            erase += self.erase_tenth()?;
            create += self.create_tenth(frame);
        }
        let replaced = frames * (self.replaced / self.team.size()) * self.team.size();
        self.require_size()?;
        Ok(vec![
            figure("churn", erase + create, replaced),
            figure("erase", erase, replaced),
            figure("create", create, replaced),
            figure("frame_end", 0.0, replaced), // there is nothing to do
        ])
    }

    fn find(&mut self, objects: usize) -> Result<Figures, String> {
        let chosen = objects.min(self.alive);
        let passes = times_to_reach(objects, self.alive);
        self.shuffle(chosen);
        let found_by_all = AtomicUsize::new(0);
        let (contender, handles) = (self.contender.as_ref().unwrap(), &self.handles);
        let spent = self.team.run(&|thread| {
            let (mut sum, mut found) = (0u64, 0);
            for _ in 0..passes {
                for &wanted in unsafe { &*handles.part(thread, chosen) } {
                    if let Some(word) = contender.find(wanted, |object| object.words[0]) {
                        sum = sum.wrapping_add(word);
                        found += 1;
                    }
                }
            }
            keep(sum);
            found_by_all.fetch_add(found, Ordering::Relaxed);
        });
        let count = passes * (chosen / self.team.size()) * self.team.size();
        require(found_by_all.into_inner() == count, "living objects were not found")?;
        Ok(vec![figure("find", spent, count)])
    }

    fn iterate(&mut self, objects: usize) -> Result<Figures, String> {
        let passes = times_to_reach(objects, self.alive);
        let contender = self.contender.as_mut().unwrap();
        let mut visited = 0;
        let start = Instant::now();
        for _ in 0..passes {
            let (mut sum, mut count) = (0u64, 0);
            contender.for_each(|object| {
                sum = sum.wrapping_add(object.words[0]);
                count += 1;
            });
            keep(sum);
            visited += count;
        }
        let spent = nanoseconds(start, Instant::now());
        require(visited == passes * self.alive, "an iteration visited another number of objects than there are")?;
        Ok(vec![figure("iterate", spent, visited)])
    }

    fn latency(&mut self, objects: usize) -> Result<Figures, String> {
        struct Times {
            kinds: [Latencies; 4], // erase, create, find, the clock itself
            random: RandomNumbers,
        }
        let threads = self.team.size();
        let frames = times_to_reach(objects, self.replaced);
        let mine_a_frame = self.replaced / threads;
        let of_thread: Vec<Mutex<Times>> = (0..threads)
            .map(|_| {
                let none = Latencies::new(frames * mine_a_frame);
                let kinds = [none.clone(), none.clone(), none.clone(), none];
                Mutex::new(Times { kinds, random: RandomNumbers::new(self.random.next()) })
            })
            .collect();
        let failures = AtomicUsize::new(0);
        for frame in 0..frames {
            self.shuffle(self.alive); // so that threads erase what others created
            let (contender, handles, alive) = (self.contender.as_ref().unwrap(), &self.handles, self.alive);
            self.team.run(&|thread| {
                let mut mine = of_thread[thread].lock().unwrap(); // once a frame, and nobody else's
                let Times { kinds, random } = &mut *mine;
                let all_of_mine = unsafe { handles.part(thread, alive) };
                let mut failed = 0;
                for i in 0..mine_a_frame {
                    let wanted = random.below(all_of_mine.len());
                    let before = Instant::now();
                    let erased = contender.erase(all_of_mine[i]);
                    let after_erase = Instant::now();
                    all_of_mine[i] = contender.create((frame + i) as u64);
                    let after_create = Instant::now();
                    let found = contender.find(all_of_mine[wanted], |object| object.words[0]);
                    keep(found);
                    let after_find = Instant::now();
                    let after_nothing = Instant::now();
                    kinds[0].record(before, after_erase);
                    kinds[1].record(after_erase, after_create);
                    kinds[2].record(after_create, after_find);
                    kinds[3].record(after_find, after_nothing);
                    failed += usize::from(!erased || found.is_none());
                }
                failures.fetch_add(failed, Ordering::Relaxed);
            });
        }
        require(failures.into_inner() == 0, "an operation failed")?;
        let mut found = Figures::new();
        for (kind, name) in ["erase", "create", "find", "clock"].iter().enumerate() {
            let all = of_thread.iter().flat_map(|times| times.lock().unwrap().kinds[kind].recorded().to_vec());
            add_quantiles(&mut found, name, all.collect());
        }
        add_quantiles(&mut found, "frame_end", vec![0; frames]); // there is nothing to do
        Ok(found)
    }

    /// Puts random handles into the first `count` places (Fisher and Yates).
    fn shuffle(&mut self, count: usize) {
        let all = self.handles.all();
        for i in 0..count {
            let other = i + self.random.below(all.len() - i);
            all.swap(i, other);
        }
    }

    fn erase_tenth(&mut self) -> Result<f64, String> {
        let erased_by_all = AtomicUsize::new(0);
        let (contender, handles, replaced) = (self.contender.as_ref().unwrap(), &self.handles, self.replaced);
        let spent = self.team.run(&|thread| {
            let victims = unsafe { &*handles.part(thread, replaced) };
            let erased = victims.iter().filter(|victim| contender.erase(**victim)).count();
            erased_by_all.fetch_add(erased, Ordering::Relaxed); // once a frame
        });
        let count = replaced / self.team.size() * self.team.size();
        require(erased_by_all.into_inner() == count, "living objects were not erased")?;
        Ok(spent)
    }

    fn create_tenth(&mut self, seed: usize) -> f64 {
        let (contender, handles, replaced) = (self.contender.as_ref().unwrap(), &self.handles, self.replaced);
        self.team.run(&|thread| {
            for (born, next) in unsafe { handles.part(thread, replaced) }.iter_mut().zip(seed as u64 + 1..) {
                *born = contender.create(next);
            }
        })
    }

    fn require_size(&mut self) -> Result<(), String> {
        require(self.contender.as_mut().unwrap().size() == self.alive, "objects are missing")
    }
}
