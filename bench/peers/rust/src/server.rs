// SPDX-License-Identifier: MIT
use crate::contender::Contender;
use crate::sharded::ShardedSlab;
use crate::slot_maps::{Dense, Sparse};
use crate::workload::{Figures, Workload};
use std::io::{BufRead, Write};

/// Does a task by its name; a workload, whatever its contender.
pub type Tasks = Box<dyn FnMut(&str, usize) -> Result<Figures, String>>;

/// A contender of this program.
pub struct Entry {
    pub name: &'static str,
    pub fewest_threads: u32,
    pub most_threads: u32,
    make: fn(usize, usize) -> Result<Tasks, String>,
}

const fn entry<C: Contender + 'static>() -> Entry {
    Entry { name: C::NAME, fewest_threads: 1, most_threads: C::MOST_THREADS, make: make::<C> }
}

fn make<C: Contender + 'static>(alive: usize, threads: usize) -> Result<Tasks, String> {
    let mut workload = Workload::<C>::new(alive, threads)?;
    Ok(Box::new(move |task, count| workload.run(task, count)))
}

pub const CONTENDERS: &[Entry] = &[entry::<ShardedSlab>(), entry::<Sparse>(), entry::<Dense>()];

impl Entry {
    /// A workload on this contender.
    pub fn workload(&self, alive: usize, threads: usize) -> Result<Tasks, String> {
        if threads == 0 || threads > self.most_threads as usize {
            return Err(format!("{} is for 1 to {} threads, not {threads}", self.name, self.most_threads));
        }
        if alive < threads {
            return Err(format!("there must be an object for each of {threads} threads, not {alive}"));
        }
        (self.make)(alive, threads)
    }
}

/// Does the tasks that words of `input` name, each followed by a number, and answers each by a line of figures.
pub fn serve(
    contender: &str,
    alive: usize,
    threads: usize,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> Result<(), String> {
    let found = CONTENDERS.iter().find(|each| each.name == contender);
    let mut run = found.ok_or_else(|| format!("there is no contender '{contender}'"))?.workload(alive, threads)?;
    for line in input.lines() {
        let line = line.map_err(|error| error.to_string())?;
        let words: Vec<&str> = line.split_whitespace().collect();
        for pair in words.chunks(2) {
            let count = pair.get(1).and_then(|word| word.parse().ok());
            let count = count.ok_or_else(|| format!("the task '{}' needs a number", pair[0]))?;
            let text: String =
                run(pair[0], count)?.iter().map(|(name, value)| format!("{name} {value} ")).collect();
            writeln!(output, "{text}").and_then(|()| output.flush()).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}
