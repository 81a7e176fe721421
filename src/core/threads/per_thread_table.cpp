// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/raise.hpp>
#include <handlepool/detail/threads/per_thread_table.hpp>
#include <handlepool/error.hpp>

namespace handlepool::detail {

void throw_thread_refused(std::string_view owner, bool of_this_module, std::size_t max_threads) {
    if (!of_this_module) {
        raise(foreign_module(owner));
    }
    raise(too_many_threads(owner, max_threads));
}

} // namespace handlepool::detail
