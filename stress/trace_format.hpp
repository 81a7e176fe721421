#pragma once

// What the writer and the reader of trace files agree on; TRACE_FORMAT.md describes it in prose.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace handlepool::stress::trace_format {

inline constexpr std::string_view magic = "HPTRACE\n";
inline constexpr std::uint32_t version = 1;
inline constexpr std::string_view end_marker = "HPTREND\n";

// Bits of the header's flags.
inline constexpr std::uint64_t truncated_flag = 1;

// An event is a varint: its payload (a size or a distance) above these bits.
inline constexpr std::uint64_t free_bit = 1;   // a free, not an allocation
inline constexpr std::uint64_t time_bit = 2;   // the time has advanced: a varint of ticks follows
inline constexpr std::uint64_t thread_bit = 4; // another thread than before: a varint with its index follows
inline constexpr unsigned payload_shift = 3;

inline constexpr std::uint64_t max_arguments = 1 << 16;
inline constexpr std::uint64_t max_command_bytes = 1 << 20;

// The frame: zstd's magic number, then a descriptor whose bits must be as the writer sets them.
inline constexpr std::array<unsigned char, 4> zstd_magic{0x28, 0xb5, 0x2f, 0xfd};
inline constexpr unsigned char checksum_bit = 0x04;
inline constexpr unsigned char single_segment_bit = 0x20;
inline constexpr unsigned char forbidden_bits = 0x1b; // dictionary, reserved and unused bits
inline constexpr unsigned char window_byte = 0x68;    // 8 MiB, in frames that aren't a single segment
inline constexpr int window_log = 23;

// The seal after it, a skippable frame: these bytes, then four with the CRC-32 of everything before them.
inline constexpr std::array<unsigned char, 8> seal_header{0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0};
inline constexpr std::size_t seal_bytes = seal_header.size() + 4;

} // namespace handlepool::stress::trace_format
