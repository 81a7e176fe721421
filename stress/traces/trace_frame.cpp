// SPDX-License-Identifier: MIT

// The frame of a trace file, and its seal.

#include "trace_file.hpp"

#include <boost/crc.hpp>
#include <boost/endian/conversion.hpp>
#include <fmt/format.h>
#include <zstd.h>

#include <array>
#include <memory>
#include <new>

namespace handlepool::stress {

namespace {

// The frame: zstd's magic number, then a descriptor whose bits must be as the writer sets them.
constexpr std::array<unsigned char, 4> zstd_magic{0x28, 0xb5, 0x2f, 0xfd};
constexpr unsigned char checksum_bit = 0x04;
constexpr unsigned char single_segment_bit = 0x20;
constexpr unsigned char forbidden_bits = 0x1b; // dictionary, reserved and unused bits
constexpr unsigned char window_byte = 0x68;    // 8 MiB, in frames that aren't a single segment
constexpr int window_log = 23;
constexpr int compression_level = 19;

// The seal after it, a skippable frame: these bytes, then four with the CRC-32 of everything before them.
constexpr std::array<unsigned char, 8> seal_header{0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0};
constexpr std::size_t crc_bytes = 4;

std::uint32_t crc_of(std::span<const std::byte> bytes) {
    boost::crc_32_type crc;
    crc.process_bytes(bytes.data(), bytes.size());
    return crc.checksum();
}

void add_seal(std::vector<std::byte>& file) {
    for (const unsigned char byte : seal_header) {
        file.push_back(std::byte{byte});
    }
    std::array<unsigned char, crc_bytes> crc{};
    boost::endian::store_little_u32(crc.data(), crc_of(file));
    for (const unsigned char byte : crc) {
        file.push_back(std::byte{byte});
    }
}

// Says what is wrong with a file.
class file_checker {
public:
    file_checker(std::span<const std::byte> file, std::string_view name) : file_(file), name_(name) {}

    [[noreturn]] void fail(std::uint64_t offset, std::string_view problem, std::string_view allowed) const {
        throw trace_error(name_, trace_place::file, offset, problem, allowed);
    }

    // Returns the size of the content.
    std::uint64_t check_header() const {
        expect_bytes(0, zstd_magic, "this is not a zstd frame", "the bytes 28 b5 2f fd, then the frame");
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

    // Returns the size of the frame.
    std::size_t find_end_of_frame() const {
        const std::size_t end = ZSTD_findFrameCompressedSize(file_.data(), file_.size());
        if (ZSTD_isError(end)) {
            fail(file_.size(), fmt::format("the frame is damaged or cut off: {}", ZSTD_getErrorName(end)),
                 "a whole zstd frame");
        }
        return end;
    }

    void check_seal(std::size_t at) const {
        expect_bytes(at, seal_header, "this is not the beginning of the seal",
                     "the bytes 50 2a 4d 18 04 00 00 00, then a CRC");
        const std::size_t crc_at = at + seal_header.size();
        const std::size_t left = file_.size() - crc_at;
        if (left < crc_bytes) {
            fail(file_.size(), "the file is cut off within its seal", "a CRC of four bytes");
        }
        if (left > crc_bytes) {
            fail(crc_at + crc_bytes, fmt::format("{} bytes follow the trace", left - crc_bytes), "nothing");
        }
        const std::uint32_t sealed =
            boost::endian::load_little_u32(reinterpret_cast<const unsigned char*>(&file_[crc_at]));
        if (const std::uint32_t crc = crc_of(file_.first(crc_at)); crc != sealed) {
            fail(crc_at,
                 fmt::format("the file is damaged: the seal says {:08x}, the bytes before it are {:08x}",
                             sealed, crc),
                 "the CRC-32 of all bytes before it");
        }
    }

private:
    void expect_bytes(std::size_t at, std::span<const unsigned char> expected, std::string_view problem,
                      std::string_view allowed) const {
        for (std::size_t i = 0; i < expected.size(); ++i) {
            if (at + i == file_.size()) {
                fail(at + i, "the file is cut off before the end of its frame and seal", allowed);
            }
            if (file_[at + i] != std::byte{expected[i]}) {
                fail(at + i, problem, allowed);
            }
        }
    }

    std::span<const std::byte> file_;
    std::string_view name_;
};

} // namespace

std::vector<std::byte> compress_content(std::span<const std::byte> content, std::string_view name) {
    const auto check = [&](std::size_t result) {
        if (ZSTD_isError(result)) {
            throw trace_error(name, trace_place::file, 0,
                              fmt::format("zstd cannot compress: {}", ZSTD_getErrorName(result)),
                              "content that fits into memory");
        }
        return result;
    };
    const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
    if (!context) {
        throw std::bad_alloc();
    }
    check(ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, compression_level));
    check(ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1));
    check(ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, window_log));
    std::vector<std::byte> frame(ZSTD_compressBound(content.size()));
    frame.resize(
        check(ZSTD_compress2(context.get(), frame.data(), frame.size(), content.data(), content.size())));
    add_seal(frame);
    return frame;
}

std::vector<std::byte> decompress_content(std::span<const std::byte> file, std::string_view name,
                                          const trace_limits& limits) {
    const file_checker checker(file, name);
    if (file.size() > limits.file_bytes) {
        checker.fail(limits.file_bytes, "the file is too large", fmt::format("{} bytes", limits.file_bytes));
    }
    const std::uint64_t content_bytes = checker.check_header();
    if (content_bytes > limits.content_bytes) {
        checker.fail(4, fmt::format("the content would take {} bytes", content_bytes),
                     fmt::format("0 to {} bytes", limits.content_bytes));
    }
    const std::size_t frame_bytes = checker.find_end_of_frame();
    checker.check_seal(frame_bytes); // of the whole file: damage ends here
    std::vector<std::byte> content(static_cast<std::size_t>(content_bytes));
    const std::size_t result = ZSTD_decompress(content.data(), content.size(), file.data(), frame_bytes);
    if (ZSTD_isError(result)) {
        checker.fail(0, fmt::format("the frame cannot be decompressed: {}", ZSTD_getErrorName(result)),
                     "a zstd frame");
    }
    return content;
}

} // namespace handlepool::stress
