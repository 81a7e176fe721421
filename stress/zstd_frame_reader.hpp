#pragma once

#include "trace.hpp"
#include "trace_reader.hpp"

#include <zstd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace handlepool::stress {

// Decompresses a file that is one zstd frame and its seal, piece by piece, so that memory doesn't depend on
// what the file claims about itself.
class zstd_frame_reader {
public:
    // Throws trace_error unless the file begins with a frame as the writer makes it.
    zstd_frame_reader(std::span<const std::byte> file, std::string_view name, const trace_limits& limits);

    // The next piece of the content, valid until the next call; empty at the end. Throws trace_error if the
    // frame is damaged, cut off, not followed by its seal alone, or larger than the limit. What it has handed
    // out is known to be undamaged only when the end has been reached.
    std::span<const std::byte> next();

private:
    [[noreturn]] void fail(std::uint64_t offset, std::string_view problem, std::string_view allowed) const;
    std::uint64_t check_header() const;

    std::span<const std::byte> file_;
    std::string_view name_;
    std::uint64_t limit_;
    std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context_;
    std::size_t position_{};   // in the file
    std::size_t wanted_;       // bytes up to the end of the next block; 0 after the frame
    std::uint64_t produced_{}; // bytes of content
    std::array<std::byte, 1 << 16> buffer_;
};

} // namespace handlepool::stress
