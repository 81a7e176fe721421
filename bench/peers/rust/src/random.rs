// SPDX-License-Identifier: MIT

/// The same numbers in all programs of the comparison, in whatever language: SplitMix64.
pub struct RandomNumbers {
    state: u64,
}

impl RandomNumbers {
    pub fn new(seed: u64) -> Self {
        RandomNumbers { state: seed }
    }

    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to `end` - 1.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::RandomNumbers;

    // As the C++ program's test has it.
    #[test]
    fn are_those_of_the_other_program() {
        let mut numbers = RandomNumbers::new(20240229);
        let first = numbers.next();
        assert_eq!(RandomNumbers::new(20240229).next(), first);
        assert_eq!(RandomNumbers::new(1234567).next(), 6457827717110365317);
    }
}
