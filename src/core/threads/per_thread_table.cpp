// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/threads/per_thread_table.hpp>
#include <handlepool/error.hpp>

namespace handlepool::detail {

void throw_thread_refused(std::string_view owner, bool of_this_module, std::size_t max_threads) {
    if (!of_this_module) {
        throw_exception(foreign_module(owner));
    }
    throw_exception(too_many_threads(owner, max_threads));
}

} // namespace handlepool::detail
