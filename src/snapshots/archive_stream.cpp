// SPDX-License-Identifier: MIT
#include <handlepool/detail/snapshots/archive_stream.hpp>

#include <exception>
#include <new>
#include <string>

namespace handlepool::detail {

bytes_buffer::bytes_buffer(std::span<const std::byte> bytes) {
    // Nobody writes to a buffer that is only read.
    auto* const first = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
    setg(first, first, first + bytes.size());
}

// Here, so that a program has one table of its functions.
bytes_buffer::~bytes_buffer() = default;

#ifdef __cpp_exceptions

void throw_unreadable(const block_reader& from, std::size_t bytes, const std::string& value,
                      std::string_view failed, const std::exception_ptr& error) {
    std::string problem = value + ' ';
    try {
        std::rethrow_exception(error);
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& what) {
        problem += failed;
        problem += ": ";
        problem += what.what();
    }
    from.refuse(bytes, problem);
}

#else

// Nothing is thrown that capture_exception() would return.
void throw_unreadable(const block_reader& from, std::size_t bytes, const std::string& value, std::string_view,
                      const std::exception_ptr&) {
    from.refuse(bytes, value);
}

#endif

} // namespace handlepool::detail
