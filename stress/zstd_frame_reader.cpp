#include "zstd_frame_reader.hpp"

#include "trace_format.hpp"
#include "trace_seal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

namespace handlepool::stress {

zstd_frame_reader::zstd_frame_reader(std::span<const std::byte> file, std::string_view name,
                                     const trace_limits& limits)
    : file_(file), name_(name), limit_(limits.content_bytes), context_(ZSTD_createDCtx(), &ZSTD_freeDCtx) {
    if (!context_) {
        throw std::bad_alloc();
    }
    if (file.size() > limits.file_bytes) {
        fail(file.size(), "the file is too large", fmt::format("{} bytes", limits.file_bytes));
    }
    const std::uint64_t content_bytes = check_header();
    if (content_bytes > limit_) {
        fail(4, fmt::format("the content would take {} bytes", content_bytes),
             fmt::format("0 to {} bytes", limit_));
    }
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, trace_format::window_log);
    wanted_ = ZSTD_initDStream(context_.get());
}

std::uint64_t zstd_frame_reader::check_header() const {
    using namespace trace_format;
    for (std::size_t i = 0; i < zstd_magic.size(); ++i) {
        if (i == file_.size()) {
            fail(i, "the file is cut off", "a zstd frame");
        }
        if (file_[i] != std::byte{zstd_magic[i]}) {
            fail(i, "this is not a zstd frame", "the bytes 28 b5 2f fd, then the frame");
        }
    }
    const unsigned long long content_bytes = ZSTD_getFrameContentSize(file_.data(), file_.size());
    if (content_bytes == ZSTD_CONTENTSIZE_ERROR) {
        fail(file_.size(), "the frame's header is damaged or cut off", "a whole zstd frame");
    }
    const auto descriptor = std::to_integer<unsigned char>(file_[4]);
    if ((descriptor & forbidden_bits) != 0 || (descriptor & checksum_bit) == 0 ||
        content_bytes == ZSTD_CONTENTSIZE_UNKNOWN) {
        fail(4, fmt::format("the frame's descriptor is {:#04x}", descriptor),
             "a frame with a content size and a checksum, and without a dictionary");
    }
    if ((descriptor & single_segment_bit) == 0 && file_[5] != std::byte{window_byte}) {
        fail(5, fmt::format("the frame's window is {:#04x}", std::to_integer<unsigned>(file_[5])),
             fmt::format("{:#04x}: 8 MiB", window_byte));
    }
    return content_bytes;
}

std::span<const std::byte> zstd_frame_reader::next() {
    while (wanted_ != 0) {
        // Never more than one block, so that an error tells where it is.
        const std::size_t available = std::min(wanted_, file_.size() - position_);
        ZSTD_inBuffer in{file_.data() + position_, available, 0};
        ZSTD_outBuffer out{buffer_.data(), buffer_.size(), 0};
        const std::size_t result = ZSTD_decompressStream(context_.get(), &out, &in);
        if (ZSTD_isError(result)) {
            fail(position_,
                 fmt::format("the block that begins here is damaged: {}", ZSTD_getErrorName(result)),
                 "a whole zstd frame");
        }
        position_ += in.pos;
        produced_ += out.pos;
        wanted_ = result;
        if (produced_ > limit_) {
            fail(position_, fmt::format("the content takes more than {} bytes", limit_),
                 fmt::format("0 to {} bytes", limit_));
        }
        if (out.pos != 0) {
            return {buffer_.data(), out.pos};
        }
        if (wanted_ != 0 && position_ == file_.size()) {
            fail(position_, "the file is cut off", fmt::format("{} bytes more at least", wanted_));
        }
    }
    check_seal(file_, position_, name_);
    return {};
}

void zstd_frame_reader::fail(std::uint64_t offset, std::string_view problem, std::string_view allowed) const {
    throw trace_error(name_, trace_place::file, offset, problem, allowed);
}

} // namespace handlepool::stress
