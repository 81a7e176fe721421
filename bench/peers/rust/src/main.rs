// SPDX-License-Identifier: MIT

//! The contenders of the comparison that are written in Rust: the same tasks on the same random numbers as in
//! handlepool-peers, which starts this program for each of them and lets all take turns.

mod contender;
mod latencies;
mod options;
mod random;
mod resident;
mod server;
mod sharded;
mod slot_maps;
mod team;
mod turns;
mod workload;

#[cfg(test)]
mod contender_test;

use options::Wish;

fn run() -> Result<(), String> {
    match options::parse(std::env::args().skip(1))? {
        Wish::Help => print!("{}", options::HELP),
        Wish::List => {
            for each in server::CONTENDERS {
                println!("{} {} {}", each.fewest_threads, each.most_threads, each.name);
            }
        }
        Wish::Serve { contender, alive, threads } => {
            let (input, output) = (std::io::stdin(), std::io::stdout());
            server::serve(&contender, alive, threads, &mut input.lock(), &mut output.lock())?;
        }
        Wish::Compare(plan) => turns::compare(&plan)?,
    }
    Ok(())
}

fn main() {
    if let Err(message) = run() {
        eprintln!("handlepool-peers-rust: {message}");
        std::process::exit(2);
    }
}
