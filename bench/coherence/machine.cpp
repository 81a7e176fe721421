// SPDX-License-Identifier: MIT
#include "machine.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace handlepool::coherence {

namespace {

constexpr line_number no_line = ~line_number{0};

} // namespace

machine::machine(std::size_t threads, std::uint64_t seed)
    : thread_count_(threads),
      threads_(seed),
      caches_(threads, *this),
      before_(std::exchange(current_, this)),
      doing_(threads, operation::other),
      waits_for_(threads, no_line) {}

machine::~machine() {
    current_ = before_;
}

void machine::access(const void* address, std::size_t bytes, access_kind kind,
                     const std::source_location* site) {
    if (threads_.running() == virtual_threads::none) {
        return;
    }
    const address_map::range* const where = memory_.find(address);
    if (where == nullptr) {
        return;
    }
    if (site != nullptr && where->members) {
        name_member(address, bytes, *site, *where);
    }
    threads_.turn();
    ++clock_;
    look_up(address, bytes, kind, *where);
}

void machine::touch(const void* address, std::size_t bytes, access_kind kind) {
    if (threads_.running() == virtual_threads::none) {
        return;
    }
    if (const address_map::range* const where = memory_.find(address)) {
        look_up(address, bytes, kind, *where);
    }
}

void machine::wait_for_change(const void* address) {
    const address_map::range* const where = memory_.find(address);
    const std::uint32_t thread = threads_.running();
    if (where == nullptr || thread == virtual_threads::none) {
        return;
    }
    const line_number line =
        where->first_line + (reinterpret_cast<std::uintptr_t>(address) - where->first) / line_size;
    if (!caches_.holds(thread, line)) {
        return;
    }
    waits_for_[thread] = line;
    threads_.sleep();
}

void machine::turn() {
    if (threads_.running() != virtual_threads::none) {
        threads_.turn();
    }
}

void machine::clear_counts() {
    caches_.settle();
    for (std::vector<tally>& each : tallies_) {
        each.clear();
    }
    transfers_.clear();
    falsely_.clear();
}

std::map<std::string, tally> machine::counts(operation what) const {
    std::map<std::string, tally> result;
    const std::vector<tally>& of_operation = tallies_[static_cast<std::size_t>(what)];
    for (std::size_t i = 0; i != of_operation.size(); ++i) {
        if (of_operation[i] != tally{}) {
            result[memory_.text(static_cast<name_number>(i))] += of_operation[i];
        }
    }
    return result;
}

std::vector<false_sharing_found> machine::false_sharing() const {
    std::vector<false_sharing_found> result;
    for (const auto& [kind, lines] : falsely_) {
        const auto& [wanted, written] = kind;
        const auto worst =
            std::ranges::max_element(lines, {}, [](const auto& each) { return each.second.transfers; });
        const false_transfer& example = worst->second.latest;
        false_sharing_found& found = result.emplace_back();
        found = {.what = operation_of(wanted),
                 .wanted = memory_.text(name_of(wanted)),
                 .written = memory_.text(written),
                 .line = memory_.describe(worst->first),
                 .wanted_at = static_cast<std::uint32_t>(example.word * word_size),
                 .written_at = static_cast<std::uint32_t>(example.written_word * word_size),
                 .thread = example.thread,
                 .writer = example.writer};
        for (const auto& [line, each] : lines) {
            found.transfers += each.transfers;
        }
    }
    std::ranges::sort(result, [](const false_sharing_found& left, const false_sharing_found& right) {
        return std::tie(right.transfers, left.what, left.wanted, left.written) <
               std::tie(left.transfers, right.what, right.wanted, right.written);
    });
    return result;
}

std::vector<busy_line> machine::busiest_lines(std::size_t most) const {
    std::vector<std::pair<std::uint64_t, line_number>> all;
    for (const auto& [line, transfers] : transfers_) {
        all.emplace_back(transfers, line);
    }
    std::ranges::sort(all, [](const auto& left, const auto& right) {
        return left.first != right.first ? left.first > right.first : left.second < right.second;
    });
    std::vector<busy_line> result;
    for (std::size_t i = 0; i != std::min(most, all.size()); ++i) {
        result.push_back({.line = memory_.describe(all[i].second), .transfers = all[i].first});
    }
    return result;
}

void machine::lost(line_number line, std::uint32_t thread) {
    if (waits_for_[thread] == line) {
        waits_for_[thread] = no_line;
        threads_.wake(thread);
    }
}

void machine::shared_falsely(const false_transfer& found) {
    ++tally_of(operation_of(found.purpose), name_of(found.purpose)).false_sharing;
    falsely& here = falsely_[{found.purpose, name_of(found.writer_purpose)}][found.line];
    ++here.transfers;
    here.latest = found;
}

void machine::look_up(const void* address, std::size_t bytes, access_kind kind,
                      const address_map::range& where) {
    const std::uint32_t thread = threads_.running();
    const operation what = doing_[thread];
    auto from = reinterpret_cast<std::uintptr_t>(address) - where.first;
    for (const std::size_t end = from + bytes; from != end;) {
        const std::size_t offset = from % line_size;
        const std::size_t part = std::min(end - from, line_size - offset);
        const name_number name = address_map::name_of(where, where.first + from);
        const line_number line = where.first_line + from / line_size;
        const access_outcome outcome =
            caches_.access(thread, line, offset, part, kind, purpose_of(what, name));
        tally& sum = tally_of(what, name);
        sum.accesses += 1;
        sum.transfers += outcome.transfer ? 1 : 0;
        sum.upgrades += outcome.upgrade ? 1 : 0;
        sum.memory += outcome.memory ? 1 : 0;
        sum.invalidations += outcome.invalidated;
        if (outcome.transfer) {
            ++transfers_[line];
        }
        from += part;
    }
}

void machine::name_member(const void* address, std::size_t bytes, const std::source_location& site,
                          const address_map::range& where) {
    if (!address_map::has_own_name(where, reinterpret_cast<std::uintptr_t>(address))) {
        memory_.name_member(address, bytes, site.file_name());
    }
}

tally& machine::tally_of(operation what, name_number name) {
    std::vector<tally>& of_operation = tallies_[static_cast<std::size_t>(what)];
    if (name >= of_operation.size()) {
        of_operation.resize(name + std::size_t{1});
    }
    return of_operation[name];
}

} // namespace handlepool::coherence
