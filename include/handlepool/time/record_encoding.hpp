// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/time/record_bytes.hpp>
#include <handlepool/time/frame_record.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// Records as bytes, for files, logs and other processes.
///
/// All numbers are little-endian, without padding between them:
///
/// | bytes | content |
/// | --- | --- |
/// | 8 | `hp frame` |
/// | 4 | the format: 1 |
/// | 4 | widths in the handles' layout, a byte each: index, generation, pool id, user bits |
/// | 4 | flags: 1 cleared, 2 reset, 4 reordered |
/// | 8, 8, 8 | `frame`, `size`, `never_seen` |
/// | 4 each | how many are in `born`, `destroyed`, `moved`, `renamed`, `edited` |
/// | 12 each | `born`: handle in 8, position in 4; then `destroyed` |
/// | 16 each | `moved`: handle in 8, positions before and now in 4 each |
/// | 20 each | `renamed`: handles before and after in 8 each, position in 4 |
/// | 12 each | `edited`: like `born` |
///
/// Each list is in ascending order of positions, `moved` of those before, and has none twice. Handles are of
/// that layout, and of a generation that lives; user bits are zero.
///
/// The values of destroyed objects are not in it: they have versions, padding and pointers of their own, of
/// which only the program knows. It writes them behind the record, in the order that `destroyed` and
/// change_log::destroyed_entries() have.
namespace handlepool {

/// Bytes that are no record. The message says where, what is wrong, and what is allowed.
class HANDLEPOOL_EXPORT invalid_record : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Appends the record to `out`. Amortized linear in the record. Throws std::bad_alloc; then `out` is as it
/// was.
template <class Handle>
void encode_record(const frame_record<Handle>& record, std::vector<std::byte>& out) {
    detail::write_record(out, record);
}

/// Reads a record, which is all of `bytes`: returns true, or false and in `error` what is wrong. Then
/// `record` is as it was. Linear. Throws std::bad_alloc.
template <class Handle>
bool try_decode_record(std::span<const std::byte> bytes, frame_record<Handle>& record, std::string& error) {
    detail::record_reader reader(bytes, error);
    frame_record<Handle> read;
    if (!detail::read_record(reader, read)) {
        return false;
    }
    record = std::move(read);
    return true;
}

/// Like try_decode_record(), but throws invalid_record for what is wrong.
template <class Handle>
void decode_record(std::span<const std::byte> bytes, frame_record<Handle>& record) {
    std::string error;
    if (!try_decode_record(bytes, record, error)) {
        detail::throw_exception(invalid_record(error));
    }
}

} // namespace handlepool
