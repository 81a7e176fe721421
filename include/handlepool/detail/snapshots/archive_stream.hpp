// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <ios>
#include <istream>
#include <ostream>
#include <span>
#include <sstream>
#include <streambuf>
#include <string>
#include <string_view>
#include <type_traits>

namespace handlepool::detail {

/// Writes values by `save(stream, value)`, and reads them by `load(stream)`.
template <class Archive, class T>
concept archive_of = requires(const Archive& archive, std::ostream& out, std::istream& in, const T& value) {
    archive.save(out, value);
    { archive.load(in) } -> std::convertible_to<T>;
};

/// A stream into a string, which throws what comes up while it is written to: others lose that, and go on.
inline std::ostringstream archive_output() {
    std::ostringstream out;
    out.exceptions(std::ios::badbit);
    return out;
}

/// Bytes to be read as a stream.
class HANDLEPOOL_EXPORT bytes_buffer final : public std::streambuf {
public:
    explicit bytes_buffer(std::span<const std::byte> bytes);
    ~bytes_buffer() override;
};

/// Throws `error`, by which a value of this name `failed`, as an invalid_snapshot of the last bytes that were
/// read; but what is no std::exception, and std::bad_alloc, as it is.
[[noreturn]] HANDLEPOOL_EXPORT void throw_unreadable(const block_reader& from, std::size_t bytes,
                                                     const std::string& value, std::string_view failed,
                                                     const std::exception_ptr& error);

/// Calls `read(stream)` for the next bytes, which hold a value; `name()` is what messages call it.
template <class Name, class Read>
void read_archived(block_reader& from, std::uint64_t size, Name name, Read read) {
    const std::span<const std::byte> bytes = from.bytes(size);
    bytes_buffer buffer(bytes);
    std::istream in(&buffer);
    in.exceptions(std::ios::badbit); // what comes up is thrown
    if (const std::exception_ptr error = capture_exception([&] { read(in); })) {
        throw_unreadable(from, bytes.size(), name(), "can't be read", error);
    }
    if (!in) {
        from.refuse(bytes.size(), name() + " takes more bytes than there are");
    }
}

} // namespace handlepool::detail
