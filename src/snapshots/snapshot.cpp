// SPDX-License-Identifier: MIT
#include "added_part.hpp"
#include "read_entries.hpp"
#include "settled_entries.hpp"
#include "snapshot_format.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/recorder/caller.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/snapshots/snapshot.hpp>

#include <algorithm>
#include <string>

namespace handlepool {

// Here, so that a program has one table of its functions.
detail::snapshot_entry::~snapshot_entry() = default;

namespace {

using entries = std::vector<std::unique_ptr<detail::snapshot_entry>>;

/// The entry of that name, or null.
detail::snapshot_entry* find(const entries& all, std::string_view name) noexcept {
    const auto found =
        std::find_if(all.begin(), all.end(), [name](const auto& each) { return each->name() == name; });
    return found == all.end() ? nullptr : found->get();
}

/// Reads a block of what the entry is. Throws invalid_snapshot.
detail::block_reader reader_of(const detail::snapshot_entry& entry, const detail::snapshot_block& block) {
    return detail::reader_of(block, entry.kind(), detail::snapshot_entry::version);
}

/// A merge: what is not kept is taken back.
class merge_of {
public:
    merge_of() = default;
    ~merge_of() {
        if (!kept_) {
            undo(others_);
            undo(pools_);
        }
        for (const auto* const list : {&others_, &pools_}) {
            for (detail::snapshot_entry* const each : *list) {
                each->unlock(false);
            }
        }
    }
    merge_of(const merge_of&) = delete;
    merge_of& operator=(const merge_of&) = delete;

    /// Throws invalid_snapshot and std::bad_alloc.
    void read(detail::snapshot_entry& entry, const detail::snapshot_block& block) {
        detail::block_reader from = reader_of(entry, block);
        if (entry.kind() != detail::block_kind::pool) {
            others_.push_back(&entry);
            entry.read_to_merge(from);
            return;
        }
        pools_.push_back(&entry);
        entry.read_to_merge(from);
        const detail::pool_of_handles pool = entry.future()->pool();
        for (const detail::snapshot_entry* const each : pools_) {
            detail::block_reader(block).require_that(
                each == &entry || each->future()->pool() != pool, 0,
                "the pool has id " + std::to_string(pool.id) + ", and so has that of block '" +
                    detail::printable(each->name()) + "'; handles are of one of them");
        }
    }
    /// Containers have objects for members, so these come first.
    void merge(handle_renaming& renaming, const merge_options& options) {
        for (detail::snapshot_entry* const each : pools_) {
            each->reserve(renaming);
        }
        const handle_mapper map(renaming, options.outside);
        for (const auto* const list : {&pools_, &others_}) {
            for (detail::snapshot_entry* const each : *list) {
                each->merge(map);
            }
        }
        kept_ = true;
        for (detail::snapshot_entry* const each : others_) {
            each->keep(options);
        }
    }

private:
    static void undo(const std::vector<detail::snapshot_entry*>& made) noexcept {
        std::for_each(made.rbegin(), made.rend(), [](auto* each) { each->undo_merge(); });
    }

    std::vector<detail::snapshot_entry*> pools_;
    std::vector<detail::snapshot_entry*> others_;
    bool kept_ = false;
};

/// A save or a load, which leaves all entries as users need them, however it ends.
class use_of {
public:
    explicit use_of(const entries& used) noexcept : entries_(used) {}
    ~use_of() {
        for (const auto& each : entries_) {
            each->unlock(applied_);
        }
    }
    use_of(const use_of&) = delete;
    use_of& operator=(const use_of&) = delete;

    /// Where the entry of that block wants the end of the payload. Throws what locking it throws.
    std::span<std::byte> room_for_end(const detail::snapshot_block& block) const {
        detail::snapshot_entry* const entry = find(entries_, block.name);
        return entry != nullptr && entry->kind() == block.kind ? entry->room_for_end(block)
                                                               : std::span<std::byte>();
    }
    /// Loads all. Returns the names of what is in the blocks only.
    std::vector<std::string> load(const detail::snapshot_blocks& blocks) {
        std::vector<std::string> unknown;
        for (const detail::snapshot_block& block : blocks.all()) {
            if (find(entries_, block.name) == nullptr) {
                unknown.emplace_back(block.name);
            }
        }
        read(blocks);
        add_unknown(unknown);
        lock();
        clear();
        apply();
        return unknown;
    }
    void lock() {
        for (const auto& each : entries_) {
            each->lock();
        }
    }
    void settle() {
        detail::repeat_until_settled(entries_, &detail::snapshot_entry::settle,
                                     "snapshot: hooks create or erase objects again and again during save()");
    }

private:
    /// Throws invalid_snapshot and std::bad_alloc.
    void read(const detail::snapshot_blocks& blocks) {
        for (const auto& each : entries_) {
            const detail::snapshot_block* const block = blocks.find(each->name());
            if (block == nullptr) {
                detail::throw_exception(invalid_snapshot(text_of(blocks.source()) + ": there is no block '" +
                                                         detail::printable(each->name()) + '\''));
            }
            detail::block_reader from = reader_of(*each, *block);
            each->read(from);
        }
        detail::require_fit(entries_);
    }
    void add_unknown(std::vector<std::string>& names) const {
        for (const auto& each : entries_) {
            each->add_unknown(names);
        }
    }
    void clear() {
        detail::repeat_until_settled(
            entries_, &detail::snapshot_entry::clear,
            "snapshot: hooks of on_destroy() create objects again and again during load()");
    }
    void apply() {
        for (const auto& each : entries_) {
            each->make_room();
        }
        for (const auto& each : entries_) {
            each->apply();
        }
        applied_ = true;
        for (const auto& each : entries_) {
            each->tell();
        }
    }

    const entries& entries_;
    bool applied_ = false;
};

/// Writes it in place of what `out` has. Throws what the entries throw; then `out` is empty.
void write(const entries& saved, std::vector<std::byte>& out, detail::payload_hashes hashes) {
    detail::snapshot_writer to(out, detail::former_bytes::replaced, hashes);
    use_of save(saved);
    save.lock();
    save.settle();
    for (const auto& each : saved) {
        each->save(to);
    }
    to.finish();
}

} // namespace

snapshot::snapshot() = default;
snapshot::~snapshot() = default;

void snapshot::require_bytes(bool consists_of_bytes, std::string_view name) {
    detail::require_bytes_in("snapshot", name, consists_of_bytes);
}

void snapshot::require_columns(std::span<const std::string_view> columns, std::string_view name) {
    for (auto each = columns.begin(); each != columns.end(); ++each) {
        if (const auto problem = detail::problem_of_name(*each)) {
            detail::refuse_part("snapshot", name, "of a column, " + *problem);
        }
        if (std::find(columns.begin(), each, *each) != each) {
            detail::refuse_part("snapshot", name,
                                "two columns have the name '" + detail::printable(*each) +
                                    "'; each needs its own");
        }
    }
}

bool snapshot::has(std::string_view name) const noexcept {
    return find(entries_, name) != nullptr;
}

std::string snapshot::checked_name(std::string_view name) const {
    detail::require_free_name("snapshot", name, entries_);
    return std::string(name);
}

void snapshot::own(std::unique_ptr<detail::snapshot_entry> entry) {
    entries_.push_back(std::move(entry));
}

void snapshot::save(std::vector<std::byte>& out) {
    write(entries_, out, detail::payload_hashes::at_once);
}

captured_snapshot snapshot::capture(std::vector<std::byte> memory) {
    write(entries_, memory, detail::payload_hashes::later);
    return captured_snapshot(std::move(memory));
}

HANDLEPOOL_NOINLINE std::vector<std::string> snapshot::load(std::span<const std::byte> bytes,
                                                            std::string_view origin) {
    const auto from = detail::caller_scope::within(detail::return_site());
    use_of load(entries_);
    return load.load(detail::snapshot_blocks(
        bytes, {.kind = "snapshot", .origin = origin},
        [&load](const detail::snapshot_block& block) { return load.room_for_end(block); }));
}

std::vector<std::string> snapshot::load(const detail::snapshot_blocks& blocks) {
    return use_of(entries_).load(blocks);
}

HANDLEPOOL_NOINLINE handle_renaming snapshot::merge(std::span<const std::byte> bytes, std::string_view origin,
                                                    const merge_options& options) {
    const auto from = detail::caller_scope::within(detail::return_site());
    const detail::snapshot_blocks blocks(bytes, origin);
    handle_renaming renaming;
    for (const detail::snapshot_block& block : blocks.all()) {
        if (!has(block.name)) {
            renaming.pass_over(block.name);
        }
    }
    merge_of merge;
    for (const auto& each : entries_) {
        if (const detail::snapshot_block* const block = blocks.find(each->name())) {
            merge.read(*each, *block);
        } else {
            renaming.pass_over(each->name());
        }
    }
    merge.merge(renaming, options);
    return renaming;
}

} // namespace handlepool
