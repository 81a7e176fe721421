// SPDX-License-Identifier: MIT
use crate::server::CONTENDERS;

pub const HELP: &str = "\
usage: handlepool-peers-rust [OPTION...]

Measures the contenders of handlepool's comparison that are written in Rust, alone and in turns: frames with 64-byte
objects of which a tenth is replaced, look-ups in random order, iteration. Prints medians and best rounds, in nanoseconds
an object. handlepool-peers --with PROGRAM measures them beside its own.

  --json FILE          also write the results to FILE
  --filter TEXT        contenders whose names contain TEXT
  --sizes N,...        numbers of objects alive (1000,10000,100000,1000000)
  --threads N,...      numbers of threads (1,2,4,8)
  --rounds N           rounds of each contender, beside one to warm up (9)
  --objects N          objects of each operation in a round, at least (200000)
  --contenders         list the contenders, each after the fewest and the most threads it is for
  --serve CONTENDER    do the tasks that the standard input names: words, each with a number
  --alive N, --on N    with --serve: numbers of objects and threads (100000, 1)
  -h, --help           print this

examples:
  handlepool-peers-rust --filter sharded --sizes 100000 --threads 1,2
  handlepool-peers-rust --json rust.json
  echo construct 0 fill 30 churn 100000 | handlepool-peers-rust --serve sharded_slab::Slab --alive 100000 --on 2
";

pub struct Plan {
    pub json: Option<String>,
    pub filter: String,
    pub sizes: Vec<usize>,
    pub threads: Vec<usize>,
    pub rounds: usize,
    pub objects: usize,
}

pub enum Wish {
    Help,
    List,
    Serve { contender: String, alive: usize, threads: usize },
    Compare(Plan),
}

fn numbers(option: &str, text: &str) -> Result<Vec<usize>, String> {
    let one = |word: &str| match word.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("{option}: '{word}' must be a number from 1 on")),
    };
    text.split(',').map(one).collect()
}

pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Wish, String> {
    let mut plan = Plan {
        json: None,
        filter: String::new(),
        sizes: vec![1_000, 10_000, 100_000, 1_000_000],
        threads: vec![1, 2, 4, 8],
        rounds: 9,
        objects: 200_000,
    };
    let (mut served, mut alive, mut on) = (None, 100_000, 1);
    while let Some(option) = arguments.next() {
        match option.as_str() {
            "-h" | "--help" => return Ok(Wish::Help),
            "--contenders" => return Ok(Wish::List),
            "--json" | "--filter" | "--sizes" | "--threads" | "--rounds" | "--objects" | "--serve" | "--alive"
            | "--on" => {}
            _ => return Err(format!("there is no option '{option}'; --help lists them")),
        }
        let value = arguments.next().ok_or_else(|| format!("{option} needs a value"))?;
        match option.as_str() {
            "--json" => plan.json = Some(value),
            "--filter" => plan.filter = value,
            "--serve" => served = Some(value),
            "--sizes" => plan.sizes = numbers(&option, &value)?,
            "--threads" => plan.threads = numbers(&option, &value)?,
            "--rounds" => plan.rounds = numbers(&option, &value)?[0],
            "--objects" => plan.objects = numbers(&option, &value)?[0],
            "--alive" => alive = numbers(&option, &value)?[0],
            _ => on = numbers(&option, &value)?[0],
        }
    }
    if let Some(contender) = served {
        return Ok(Wish::Serve { contender, alive, threads: on });
    }
    if !CONTENDERS.iter().any(|each| each.name.contains(&plan.filter)) {
        return Err(format!("--filter: no contender's name contains '{}'; --contenders lists them", plan.filter));
    }
    Ok(Wish::Compare(plan))
}

#[cfg(test)]
mod tests {
    use super::{parse, Wish};

    fn parsed(arguments: &[&str]) -> Result<Wish, String> {
        parse(arguments.iter().map(|each| each.to_string()))
    }

    #[test]
    fn options_are_read() {
        match parsed(&["--sizes", "10,20", "--rounds", "5", "--json", "a file"]) {
            Ok(Wish::Compare(plan)) => {
                assert_eq!(plan.sizes, [10, 20]);
                assert_eq!(plan.rounds, 5);
                assert_eq!(plan.json.as_deref(), Some("a file"));
            }
            _ => panic!("it is a comparison"),
        }
    }

    #[test]
    fn wrong_options_are_named() {
        for (arguments, complaint) in [
            (&["--no-such"][..], "'--no-such'"),
            (&["--json"], "--json needs a value"),
            (&["--sizes", "10,x"], "--sizes: 'x' must be a number from 1 on"),
            (&["--rounds", "0"], "--rounds: '0' must be a number from 1 on"),
            (&["--filter", "nobody"], "no contender's name contains 'nobody'"),
        ] {
            let message = parsed(arguments).err().expect("it is wrong");
            assert!(message.contains(complaint), "{message}");
        }
    }
}
