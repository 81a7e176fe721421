// SPDX-License-Identifier: MIT

/// Bytes of the process's memory that are resident now, exactly.
pub fn resident_bytes() -> Result<u64, String> {
    let name = "/proc/self/smaps_rollup";
    let text = std::fs::read_to_string(name).map_err(|error| format!("{name}: {error}"))?;
    text.lines()
        .find_map(|line| line.strip_prefix("Rss:")?.split_whitespace().next()?.parse::<u64>().ok())
        .map(|kibibytes| kibibytes * 1024)
        .ok_or_else(|| format!("{name} has no line Rss"))
}
