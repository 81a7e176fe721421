// SPDX-License-Identifier: MIT
#include "snapshot_format.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/error.hpp>
#include <handlepool/snapshots/snapshot.hpp>

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace handlepool {

// Here, so that a program has one table of its functions.
detail::snapshot_entry::~snapshot_entry() = default;

namespace {

[[noreturn]] void refuse(std::string_view name, const std::string& problem) {
    detail::throw_exception(std::invalid_argument("snapshot, '" + detail::printable(name) + "': " + problem));
}

std::string text_of(detail::block_kind kind) {
    constexpr std::string_view names[] = {"an end", "a pool", "a container", "a value"};
    const auto number = static_cast<std::size_t>(kind);
    return number < std::size(names) ? std::string(names[number]) : "of kind " + std::to_string(number);
}

using entries = std::vector<std::unique_ptr<detail::snapshot_entry>>;

/// Throws what the entries throw; then `out` is as it was.
void write(const entries& saved, std::vector<std::byte>& out, detail::payload_hashes hashes) {
    detail::snapshot_writer to(out, hashes);
    for (const auto& each : saved) {
        each->save(to);
    }
    to.finish();
}

/// A load, which leaves all entries as users need them, however it ends.
class load_of {
public:
    explicit load_of(const entries& loaded) noexcept : entries_(loaded) {}
    ~load_of() {
        for (const auto& each : entries_) {
            each->unlock(applied_);
        }
    }
    load_of(const load_of&) = delete;
    load_of& operator=(const load_of&) = delete;

    /// Throws invalid_snapshot and std::bad_alloc.
    void read(const detail::snapshot_blocks& blocks, std::string_view origin) {
        for (const auto& each : entries_) {
            const detail::snapshot_block* const block = blocks.find(each->name());
            if (block == nullptr) {
                detail::throw_exception(invalid_snapshot("snapshot '" + detail::printable(origin) +
                                                         "': there is no block '" +
                                                         detail::printable(each->name()) + '\''));
            }
            detail::block_reader from(*block, origin);
            from.require_that(block->kind == each->kind(), 0,
                              "the block is " + text_of(block->kind) + "; here it is " +
                                  text_of(each->kind()));
            from.require_that(block->version == detail::snapshot_entry::version, 0,
                              "the block has version " + std::to_string(block->version) + "; known is " +
                                  std::to_string(detail::snapshot_entry::version));
            each->read(from);
        }
    }
    void add_unknown(std::vector<std::string>& names) const {
        for (const auto& each : entries_) {
            each->add_unknown(names);
        }
    }
    void lock() {
        for (const auto& each : entries_) {
            each->lock();
        }
    }
    void clear() {
        bool any = true;
        for (int i = 0; any; ++i) { // hooks of one pool may make objects in another one
            if (i == most_rounds) {
                detail::throw_exception(compaction_conflict(
                    "snapshot: hooks of on_destroy() create objects again and again during load()"));
            }
            any = false;
            for (const auto& each : entries_) {
                any = each->clear() || any;
            }
        }
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

private:
    static constexpr int most_rounds = 16;

    const entries& entries_;
    bool applied_ = false;
};

} // namespace

snapshot::snapshot() = default;
snapshot::~snapshot() = default;

void snapshot::require_bytes(bool consists_of_bytes, std::string_view name) {
    if (!consists_of_bytes) {
        refuse(name, "a raw_type with a function to relocate or destroy objects is no type of such that "
                     "consist of bytes");
    }
}

void snapshot::require_columns(std::span<const std::string_view> columns, std::string_view name) {
    for (auto each = columns.begin(); each != columns.end(); ++each) {
        if (const auto problem = detail::problem_of_name(*each)) {
            refuse(name, "of a column, " + *problem);
        }
        if (std::find(columns.begin(), each, *each) != each) {
            refuse(name, "two columns have the name '" + detail::printable(*each) + "'; each needs its own");
        }
    }
}

bool snapshot::has(std::string_view name) const noexcept {
    return std::any_of(entries_.begin(), entries_.end(),
                       [name](const auto& each) { return each->name() == name; });
}

std::string snapshot::checked_name(std::string_view name) const {
    if (const auto problem = detail::problem_of_name(name)) {
        refuse(name, *problem);
    }
    if (has(name)) {
        refuse(name, "something has been added under this name already");
    }
    return std::string(name);
}

void snapshot::own(std::unique_ptr<detail::snapshot_entry> entry) {
    entries_.push_back(std::move(entry));
}

void snapshot::save(std::vector<std::byte>& out) {
    write(entries_, out, detail::payload_hashes::at_once);
}

captured_snapshot snapshot::capture(std::vector<std::byte> memory) {
    memory.clear();
    write(entries_, memory, detail::payload_hashes::later);
    return captured_snapshot(std::move(memory));
}

std::vector<std::string> snapshot::load(std::span<const std::byte> bytes, std::string_view origin) {
    const detail::snapshot_blocks blocks(bytes, origin);
    std::vector<std::string> unknown;
    for (const detail::snapshot_block& block : blocks.all()) {
        if (!has(block.name)) {
            unknown.emplace_back(block.name);
        }
    }
    load_of load(entries_);
    load.read(blocks, origin);
    load.add_unknown(unknown);
    load.lock();
    load.clear();
    load.apply();
    return unknown;
}

} // namespace handlepool
