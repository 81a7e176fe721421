// SPDX-License-Identifier: MIT

// Bytes that claim to be the record of a frame: they are refused, or make a record that gives the same bytes.

#include "require.hpp"

#include <handlepool/handle.hpp>
#include <handlepool/time/frame_record.hpp>
#include <handlepool/time/record_encoding.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace handlepool::fuzz {
namespace {

template <class Handle>
void read(std::span<const std::byte> bytes) {
    frame_record<Handle> record;
    std::string error;
    if (!try_decode_record(bytes, record, error)) {
        require(!error.empty(), "a reason is given");
        require(record == frame_record<Handle>(), "what is refused changes nothing");
        return;
    }
    std::vector<std::byte> again;
    encode_record(record, again);
    require(std::ranges::equal(again, bytes), "a record has one encoding");
}

} // namespace
} // namespace handlepool::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace handlepool;
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
    fuzz::read<handle<int>>(bytes);
    fuzz::read<handle<int, handle_layout<12, 18, 2>>>(bytes); // handles of 32 bits
    return 0;
}
