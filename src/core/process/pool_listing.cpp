// SPDX-License-Identifier: MIT
#include "process_state.hpp"

#include <handlepool/detail/process/pool_listing.hpp>

#include <mutex>

#ifdef HANDLEPOOL_GDB_SCRIPT
// An entry of the section that gdb reads of a program: the script to load, whose kind is a Python file.
asm(".pushsection \".debug_gdb_scripts\", \"MS\",@progbits,1\n"
    ".byte 1\n"
    ".asciz \"" HANDLEPOOL_GDB_SCRIPT "\"\n"
    ".popsection\n");
#endif

namespace handlepool::detail {

// Under the mutex of the pool ids, which fork takes: a child's list is whole. A debugger may stop the process
// between any two stores, and follows `next` alone.

pool_listing::pool_listing(const living_pool& pool) noexcept : pool_(pool) {
    const std::scoped_lock lock(this_process.registries_mutex);
    pool_.next = living_pools;
    if (pool_.next != nullptr) {
        pool_.next->previous = &pool_;
    }
    living_pools = &pool_;
}

pool_listing::~pool_listing() {
    const std::scoped_lock lock(this_process.registries_mutex);
    if (pool_.next != nullptr) {
        pool_.next->previous = pool_.previous;
    }
    (pool_.previous != nullptr ? pool_.previous->next : living_pools) = pool_.next;
}

} // namespace handlepool::detail
