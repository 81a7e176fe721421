// SPDX-License-Identifier: MIT
#include "../recorder/depots.hpp"
#include "process_description.hpp"
#include "process_state.hpp"

#include <handlepool/detail/process/pool_listing.hpp>

#include <atomic>
#include <mutex>

#ifdef HANDLEPOOL_GDB_SCRIPT
// An entry of the section that gdb reads of a program: the script to load, whose kind is a Python file.
asm(".pushsection \".debug_gdb_scripts\", \"MS\",@progbits,1\n"
    ".byte 1\n"
    ".asciz \"" HANDLEPOOL_GDB_SCRIPT "\"\n"
    ".popsection\n");
#endif

namespace handlepool::detail {

namespace {

/// One more with each change of the list: odd while it changes.
constinit std::atomic<std::uint64_t> list_changes{0};
/// Pools that were ever listed.
constinit std::uint64_t listed_pools = 0;

/// Changes the list while it lives: under the mutex of the pool ids, which fork takes, so that a child's list
/// is whole. A debugger may stop the process between any two stores, and follows `next` alone.
class change_of_list {
public:
    change_of_list() : lock_(this_process.registries_mutex) {
        count();
        // A reader in another process sees the list change only after the first of these counts.
        std::atomic_thread_fence(std::memory_order::seq_cst);
    }
    ~change_of_list() { count(); }

    change_of_list(const change_of_list&) = delete;
    change_of_list& operator=(const change_of_list&) = delete;

private:
    // release: and all of the change before the second
    static void count() noexcept { list_changes.fetch_add(1, std::memory_order::release); }

    std::scoped_lock<constant_mutex> lock_;
};

} // namespace

HANDLEPOOL_KEEP constinit process_description described_process{
    .self = &described_process,
    .living_pools = &living_pools,
    .list_changes = &list_changes,
    .threads = this_process.system_threads.data(),
    .thread_count = this_process.system_threads.size(),
    .sites = &listed_sites,
    .actors = &listed_actors,
};

void pool_listing::list() noexcept {
    const change_of_list changing;
    pool_.number = listed_pools++;
    pool_.next = living_pools;
    if (pool_.next != nullptr) {
        pool_.next->previous = &pool_;
    }
    living_pools = &pool_;
    is_listed_ = true;
}

pool_listing::~pool_listing() {
    if (is_listed_) {
        const change_of_list changing;
        if (pool_.next != nullptr) {
            pool_.next->previous = pool_.previous;
        }
        (pool_.previous != nullptr ? pool_.previous->next : living_pools) = pool_.next;
    }
}

} // namespace handlepool::detail
