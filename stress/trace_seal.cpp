#include "trace_seal.hpp"

#include "trace.hpp"
#include "trace_format.hpp"

#include <boost/crc.hpp>
#include <fmt/format.h>

#include <cstdint>

namespace handlepool::stress {

namespace {

std::uint32_t crc_of(std::span<const std::byte> bytes) {
    boost::crc_32_type crc;
    crc.process_bytes(bytes.data(), bytes.size());
    return crc.checksum();
}

} // namespace

void add_seal(std::vector<std::byte>& file) {
    for (const unsigned char byte : trace_format::seal_header) {
        file.push_back(std::byte{byte});
    }
    const std::uint32_t crc = crc_of(file);
    for (int shift = 0; shift < 32; shift += 8) {
        file.push_back(static_cast<std::byte>(crc >> shift));
    }
}

void check_seal(std::span<const std::byte> file, std::size_t position, std::string_view name) {
    const auto fail = [&](std::size_t offset, std::string_view problem, std::string_view allowed) {
        throw trace_error(name, trace_place::file, offset, problem, allowed);
    };
    for (const unsigned char byte : trace_format::seal_header) {
        if (position == file.size()) {
            fail(position, "the file is cut off before its seal", "the seal's 12 bytes");
        }
        if (file[position] != std::byte{byte}) {
            fail(position, "this is not the beginning of the seal",
                 "the bytes 50 2a 4d 18 04 00 00 00, then a CRC");
        }
        ++position;
    }
    if (file.size() - position < 4) {
        fail(file.size(), "the file is cut off within its seal", "a CRC of four bytes");
    }
    if (file.size() - position > 4) {
        fail(position + 4, fmt::format("{} bytes follow the trace", file.size() - position - 4), "nothing");
    }
    std::uint32_t sealed = 0;
    for (int i = 3; i >= 0; --i) {
        sealed = sealed << 8 | std::to_integer<std::uint32_t>(file[position + static_cast<std::size_t>(i)]);
    }
    if (const std::uint32_t crc = crc_of(file.first(position)); crc != sealed) {
        fail(position,
             fmt::format("the file is damaged: the seal says {:08x}, the bytes before it are {:08x}", sealed,
                         crc),
             "the CRC-32 of all bytes before it");
    }
}

} // namespace handlepool::stress
