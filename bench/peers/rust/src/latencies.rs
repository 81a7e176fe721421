// SPDX-License-Identifier: MIT
use crate::workload::Figures;
use std::time::Instant;

/// How long single operations of one kind took, in nanoseconds. Its memory is there before the first is recorded.
#[derive(Clone)]
pub struct Latencies {
    times: Vec<u32>,
    count: usize,
}

impl Latencies {
    pub fn new(most: usize) -> Self {
        Latencies { times: vec![1; most], count: 0 } // ones are written, zeros may not be
    }

    #[inline]
    pub fn record(&mut self, start: Instant, end: Instant) {
        let spent = end.duration_since(start).as_nanos();
        self.times[self.count] = spent.min(u128::from(u32::MAX)) as u32;
        self.count += 1;
    }

    pub fn recorded(&self) -> &[u32] {
        &self.times[..self.count]
    }
}

/// Adds quantiles to `found`, named as in the C++ program. There must be times.
pub fn add_quantiles(found: &mut Figures, name: &str, mut times: Vec<u32>) {
    times.sort_unstable();
    let at = |part: f64| {
        let rank = (part * times.len() as f64) as usize;
        f64::from(times[rank.min(times.len() - 1)])
    };
    for (part, of) in [("50", 0.5), ("99", 0.99), ("99.9", 0.999), ("99.99", 0.9999), ("worst", 1.0)] {
        found.push((format!("{name}_{part}"), at(of)));
    }
}

#[cfg(test)]
mod tests {
    use super::add_quantiles;

    #[test]
    fn quantiles_are_those_of_the_sorted_times() {
        let mut found = Vec::new();
        add_quantiles(&mut found, "find", (0..10_000).rev().collect());
        let values: Vec<f64> = found.iter().map(|figure| figure.1).collect();
        assert_eq!(values, [5000.0, 9900.0, 9990.0, 9999.0, 9999.0]);
        assert_eq!(found[3].0, "find_99.99");
    }
}
