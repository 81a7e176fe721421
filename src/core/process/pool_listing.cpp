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

/// Changes a list while it lives: under the mutex of the pool ids, which fork takes, so that a child's list
/// is whole. A debugger may stop the process between any two stores, and follows `next` alone.
class change_of_list {
public:
    change_of_list() : lock_(this_process.registries_mutex) {
        count();
        // A reader in another process sees the list change only after the first count: no load passes a
        // count before it when both are seq_cst, and nothing after this load passes it.
        static_cast<void>(this_process.list_changes.load(std::memory_order::seq_cst));
    }
    ~change_of_list() { count(); }

    change_of_list(const change_of_list&) = delete;
    change_of_list& operator=(const change_of_list&) = delete;

private:
    // seq_cst for the first; and release for the second, which comes after all of the change
    static void count() noexcept { this_process.list_changes.fetch_add(1, std::memory_order::seq_cst); }

    std::scoped_lock<constant_mutex> lock_;
};

template <class Living>
void add_to(Living*& first, Living& added) noexcept {
    added.next = first;
    if (first != nullptr) {
        first->previous = &added;
    }
    first = &added;
}
template <class Living>
void take_from(Living*& first, const Living& ended) noexcept {
    if (ended.next != nullptr) {
        ended.next->previous = ended.previous;
    }
    (ended.previous != nullptr ? ended.previous->next : first) = ended.next;
}

} // namespace

HANDLEPOOL_KEEP constinit process_description described_process{
    .self = &described_process,
    .living_pools = &living_pools,
    .living_services = &living_services,
    .list_changes = &this_process.list_changes,
    .threads = this_process.system_threads.data(),
    .thread_count = this_process.system_threads.size(),
    .sites = &listed_sites,
    .actors = &listed_actors,
};

void pool_listing::list() noexcept {
    const change_of_list changing;
    pool_.number = this_process.listed_pools++;
    add_to(living_pools, pool_);
    is_listed_ = true;
}

pool_listing::~pool_listing() {
    if (is_listed_) {
        const change_of_list changing;
        take_from(living_pools, pool_);
    }
}

service_listing::service_listing(const described_gate& gate) noexcept : service_{.gate = gate} {
    const change_of_list changing;
    service_.number = this_process.listed_services++;
    add_to(living_services, service_);
}
service_listing::~service_listing() {
    const change_of_list changing;
    take_from(living_services, service_);
}

} // namespace handlepool::detail
