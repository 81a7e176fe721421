// SPDX-License-Identifier: MIT
#include "caches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace handlepool::coherence {

caches::caches(std::size_t threads, cache_observer& observer) : threads_(threads), observer_(observer) {
    if (threads == 0 || threads > most_threads) {
        throw std::invalid_argument(
            fmt::format("there can be 1 to {} simulated caches, not {}", most_threads, threads));
    }
}

access_outcome caches::access(std::uint32_t thread, line_number number, std::size_t offset, std::size_t bytes,
                              access_kind kind, std::uint32_t purpose) {
    line& one = line_at(number);
    const std::size_t first = offset / word_size;
    const std::size_t last = (offset + bytes - 1) / word_size;
    access_outcome outcome;
    if (one.holders.test(thread)) {
        if (visitor* const mine = visitor_of(one, thread);
            mine != nullptr && mine->undecided && uses_news(one, *mine, first, last)) {
            mine->undecided = false;
        }
        outcome.upgrade = kind == access_kind::write && one.owner != thread;
    } else {
        outcome.transfer = one.holders.any();
        outcome.memory = !outcome.transfer;
        if (outcome.transfer) {
            judge_transfer(one,
                           {.line = number,
                            .thread = thread,
                            .word = static_cast<std::uint32_t>(first),
                            .purpose = purpose},
                           first, last);
        }
    }
    if (kind == access_kind::write) {
        outcome.invalidated = invalidate_others(one, number, thread);
        one.owner = thread;
        ++writes_;
        for (std::size_t i = first; i <= last; ++i) {
            one.words[i] = {.written_at = writes_, .purpose = purpose, .writer = thread};
        }
    } else if (outcome.memory) {
        one.owner = thread; // exclusive: a later write needs nobody else
    } else if (outcome.transfer) {
        one.owner = nobody;
    }
    one.holders.set(thread);
    return outcome;
}

bool caches::holds(std::uint32_t thread, line_number number) const noexcept {
    const std::size_t at = number / lines_of_block;
    return at < blocks_.size() && blocks_[at] != nullptr &&
           (*blocks_[at])[number % lines_of_block].holders.test(thread);
}

void caches::settle() {
    for (const std::unique_ptr<block>& some : blocks_) {
        if (some == nullptr) {
            continue;
        }
        for (line& one : *some) {
            for (visitor& each : one.visitors) {
                if (each.undecided) {
                    each.undecided = false;
                    observer_.shared_falsely(each.suspected);
                }
            }
        }
    }
}

caches::line& caches::line_at(line_number number) {
    const std::size_t at = number / lines_of_block;
    if (at >= blocks_.size()) {
        blocks_.resize(at + 1);
    }
    if (blocks_[at] == nullptr) {
        blocks_[at] = std::make_unique<block>();
    }
    return (*blocks_[at])[number % lines_of_block];
}

caches::visitor* caches::visitor_of(line& one, std::uint32_t thread) {
    const auto found = std::ranges::find(one.visitors, thread, &visitor::thread);
    return found == one.visitors.end() ? nullptr : &*found;
}

/// The word that another thread has written last, if it did so later than `since`.
const caches::word* caches::newest_since(const line& one, std::uint32_t thread, std::uint32_t since) const {
    const word* newest = nullptr;
    for (const word& each : one.words) {
        if (each.writer != thread && each.written_at > since &&
            (newest == nullptr || each.written_at > newest->written_at)) {
            newest = &each;
        }
    }
    return newest;
}

bool caches::uses_news(const line& one, const visitor& mine, std::size_t first, std::size_t last) {
    return std::any_of(one.words.begin() + static_cast<std::ptrdiff_t>(first),
                       one.words.begin() + static_cast<std::ptrdiff_t>(last) + 1, [&](const word& each) {
                           return each.written_at > mine.lost_at && each.writer != mine.thread;
                       });
}

void caches::judge_transfer(line& one, const false_transfer& access, std::size_t first, std::size_t last) {
    visitor* const mine = visitor_of(one, access.thread);
    if (mine == nullptr || uses_news(one, *mine, first, last)) {
        return;
    }
    if (const word* const newest = newest_since(one, access.thread, mine->lost_at)) {
        mine->undecided = true;
        mine->suspected = access;
        mine->suspected.writer = newest->writer;
        mine->suspected.written_word = static_cast<std::uint32_t>(newest - one.words.data());
        mine->suspected.writer_purpose = newest->purpose;
    }
}

std::uint32_t caches::invalidate_others(line& one, line_number number, std::uint32_t thread) {
    if (one.owner == thread) {
        return 0;
    }
    std::uint32_t count = 0;
    for (std::uint32_t each = 0; each != threads_; ++each) {
        if (each == thread || !one.holders.test(each)) {
            continue;
        }
        ++count;
        one.holders.reset(each);
        visitor* its = visitor_of(one, each);
        if (its == nullptr) {
            its = &one.visitors.emplace_back();
            its->thread = each;
        }
        if (its->undecided) {
            its->undecided = false;
            observer_.shared_falsely(its->suspected);
        }
        its->lost_at = writes_;
        observer_.lost(number, each);
    }
    return count;
}

} // namespace handlepool::coherence
