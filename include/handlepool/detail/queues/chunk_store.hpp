// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/reversed_array.hpp>
#include <handlepool/freelist.hpp>
#include <handlepool/memory_use.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>

namespace handlepool::detail {

/// A queue's two ends, each of one thread: positions that the producer takes, in chunks that are claimed as
/// needed and linked to each other, and that the consumer follows in the same order. The queue's user stores
/// the contents, and tells the consumer when they are there.
template <class Policy>
struct chunk_chain {
    using position = typename Policy::template plain<std::uint32_t>;

    static constexpr std::uint32_t chunks_had = 8;

    // The producer's: its next position and the end of its chunk, equal when it has none left, both 0 before
    // its first chunk; and the chunk.
    position put{0};
    position put_end{0};
    position put_chunk{0};
    // The last chunks that it has had from others, and the one whose place the next one takes.
    std::array<typename Policy::template plain<link>, chunks_had> had{};
    position oldest{0};
    // The first chunk of the chain.
    typename Policy::template atomic<link> first{link::none};
    // The consumer's, the same.
    alignas(cache_line) position get{0};
    position get_end{0};
    position get_chunk{0};

    /// Makes the chain as new. Only while nobody uses it.
    void reset() noexcept {
        put = put_end = get = get_end = 0;
        for (auto& chunk : had) {
            chunk = link::none;
        }
        oldest = 0;
        first.store(link::none, std::memory_order::relaxed);
    }
};

/// The chunks of all chains of one kind: `chunk_size` positions each, claimed by producers and given back by
/// the consumer of all chains, compaction. By recycle() they go out again in the order in which they came
/// back, by give_back_finished() the lowest first.
///
/// @tparam Supply the freelist of the chunks, or an index_allocator for those that give chunks back unused
template <class Policy, class Supply>
class chunk_store {
public:
    using chain = chunk_chain<Policy>;

    /// Serves `max_threads` producers at most.
    chunk_store(const allocation_label& what_for, std::size_t chunks, std::size_t chunk_size,
                std::size_t max_threads = (std::numeric_limits<std::size_t>::max)())
        : chunk_size_(static_cast<std::uint32_t>(chunk_size)),
          free_(
              what_for.part(" chunks"),
              {.index_limit = chunks, .waiting_limit = chunks, .max_threads = max_threads, .reuse_delay = 0}),
          next_(what_for.part(" chunk links"), chunks) {}

    std::uint32_t chunk_size() const noexcept { return chunk_size_; }
    std::size_t chunks() const noexcept { return next_.size(); }
    std::size_t positions() const noexcept { return next_.size() * chunk_size_; }

    /// Producer: returns whether its chunk has a position left, so that the next one meets no other thread.
    static bool has_position(const chain& queue) noexcept { return queue.put != queue.put_end; }

    /// Producer: takes the next position of the chain's chunk, which has one.
    static std::uint32_t take_held(chain& queue) noexcept {
        const std::uint32_t position = queue.put;
        queue.put = position + 1;
        return position;
    }

    /// Producer: appends a chunk to the chain. False when none is left, or after `tries` lost exchanges.
    /// Wait-free with bounded tries, else lock-free.
    HANDLEPOOL_NOINLINE bool extend(chain& queue,
                                    std::size_t tries = (std::numeric_limits<std::size_t>::max)()) noexcept {
        const std::optional<std::uint32_t> chunk = take_chunk(tries);
        if (chunk) {
            append(queue, *chunk);
            queue.had[queue.oldest] = link_to(*chunk);
            queue.oldest = (queue.oldest + 1) % chain::chunks_had;
        }
        return chunk.has_value();
    }
    /// Producer: appends one of the chunks to the chain that it has had, and whose lines its core may still
    /// have: one that came back without an order, of the first `limit`. Returns whether it did. Wait-free.
    bool extend_again(chain& queue, std::size_t limit) noexcept {
        for (const link chunk : queue.had) {
            if (chunk != link::none && target_of(chunk) < limit && given_back().claim(target_of(chunk))) {
                append(queue, target_of(chunk));
                return true;
            }
        }
        return false;
    }

    /// Producer: takes a whole chunk for itself, which no chain leads to yet: see append(). Nothing when none
    /// is left, or after `tries` lost exchanges. Like take().
    std::optional<std::uint32_t>
    take_chunk(std::size_t tries = (std::numeric_limits<std::size_t>::max)()) noexcept {
        std::uint32_t chunk = 0;
        return free_.claim(&chunk, 1, free_.limit(), tries) == 0 ? std::nullopt : std::optional(chunk);
    }
    /// Producer: takes up to `wanted` such chunks, and returns how many. Lock-free.
    std::size_t take_chunks(std::uint32_t* out, std::size_t wanted) noexcept {
        return free_.claim(out, wanted, free_.limit());
    }
    /// Producer: gives such a chunk back. Wait-free.
    void give_back_chunk(std::uint32_t chunk) noexcept { free_.give_back(chunk); }
    /// Producer: makes such a chunk the chain's last one, where the next positions are taken. Those of the
    /// former last chunk that were not taken must be passed in some other way.
    void append(chain& queue, std::uint32_t chunk) noexcept {
        // Relaxed, the link and its reading: what stands in the chunk is ordered by its user, and a link that
        // is seen late only makes the consumer stop early.
        if (queue.put_end == 0) {
            queue.first.store(link_to(chunk), std::memory_order::relaxed);
        } else {
            link_of(queue.put_chunk).store(link_to(chunk), std::memory_order::relaxed);
        }
        queue.put_chunk = chunk;
        queue.put = chunk * chunk_size_;
        queue.put_end = queue.put + chunk_size_;
    }

    /// Consumer: returns whether `queue.get` names a position that the producer may have taken. Steps to the
    /// next chunk where the current one is used up, which is then given back by recycle().
    bool follow(chain& queue) noexcept {
        if (queue.get != queue.get_end) {
            return true;
        }
        const bool first = queue.get_end == 0;
        const link next = first ? first_of(queue) : link_after(queue.get_chunk);
        if (next == link::none) {
            return false;
        }
        if (!first) {
            finish(queue.get_chunk);
        }
        queue.get_chunk = target_of(next);
        queue.get = queue.get_chunk * chunk_size_;
        queue.get_end = queue.get + chunk_size_;
        return true;
    }

    /// Consumer: calls `visit(first, last)` for the ranges of positions that the producer may have taken and
    /// the consumer has not passed, as long as it returns true.
    template <class Visit>
    void for_pending(const chain& queue, Visit visit) const {
        if (queue.get != queue.get_end && !visit(std::uint32_t{queue.get}, std::uint32_t{queue.get_end})) {
            return;
        }
        for (link next = queue.get_end == 0 ? first_of(queue) : link_after(queue.get_chunk);
             next != link::none; next = link_after(target_of(next))) {
            const std::uint32_t first = target_of(next) * chunk_size_;
            if (!visit(first, first + chunk_size_)) {
                return;
            }
        }
    }

    /// Consumer: gives the chunks back that all chains have done with, in their order.
    void recycle() {
        take_finished([this](std::uint32_t chunk) { free_.release(chunk); });
        free_.publish();
    }

    /// Consumer: gives those chunks back without an order, as if they had not been used: shards claim them
    /// before others, the lowest first. Before that, calls `clear(chunk)` for each.
    template <class Clear>
    void give_back_finished(Clear clear) {
        constexpr std::size_t word_size = std::remove_reference_t<decltype(given_back())>::bits_per_word;
        std::size_t word = 0;
        std::uint64_t bits = 0;
        const auto give_back = [&] {
            if (bits != 0) {
                given_back().give_back_word(word, bits);
            }
        };
        take_finished([&](std::uint32_t chunk) {
            clear(chunk);
            if (chunk / word_size != word) {
                give_back();
                word = chunk / word_size;
                bits = 0;
            }
            bits |= std::uint64_t{1} << (chunk % word_size);
        });
        give_back();
        given_back().rewind();
    }

    /// Consumer: takes the chunks for itself that all chains have done with, and calls `taken(chunk)`.
    template <class Taken>
    void take_finished(Taken taken) {
        while (first_finished_ != link::none) {
            const std::uint32_t chunk = target_of(first_finished_);
            first_finished_ = link_of(chunk).load(std::memory_order::relaxed);
            link_of(chunk).store(link::none, std::memory_order::relaxed);
            taken(chunk);
        }
    }

    /// Consumer: puts chunks in service until there are so many, unused and given back, `most` at a time.
    /// Only with give_back_finished().
    void put_in_service(std::size_t chunks, std::size_t most) noexcept {
        std::array<std::uint32_t, 64> fresh;
        while (chunks_in_service() < chunks) {
            const std::size_t wanted = least(chunks - chunks_in_service(), least(most, fresh.size()));
            const std::size_t count = free_.claim_fresh(fresh.data(), wanted);
            if (count == 0) {
                return;
            }
            for (std::size_t i = 0; i != count; ++i) {
                free_.give_back(fresh[i]);
            }
        }
    }

    /// The chunks that were given back and not taken since.
    auto& given_back() noexcept { return free_.returned_words(); }
    /// Chunks ever taken are the first ones.
    std::size_t chunks_in_service() const noexcept { return free_.list().fresh(); }
    /// Chunks that were taken and not given back.
    std::size_t chunks_in_use() const noexcept {
        const std::size_t unused =
            free_.returned().waiting(); // before those in service: never more than they
        return chunks_in_service() - unused;
    }

    // For captures, while nobody else uses the chunks.

    /// Calls `visit(chunk)` for those of a chain, from that of its consumer on.
    template <class Visit>
    void for_each_chunk(const chain& queue, Visit visit) const {
        for (link next = queue.get_end == 0 ? first_of(queue) : link_to(queue.get_chunk);
             next != link::none;) {
            const std::uint32_t chunk = target_of(next);
            next = link_after(chunk); // before `visit` changes it
            visit(chunk);
        }
    }
    /// Takes the chunks of a chain out of it.
    void unlink(chain& queue) noexcept {
        for_each_chunk(queue, [this](std::uint32_t chunk) {
            link_of(chunk).store(link::none, std::memory_order::relaxed);
        });
        queue.reset();
    }
    /// Makes a chain without chunks one of these, where the producer and the consumer go on at these
    /// positions.
    void relink(chain& queue, std::span<const std::uint32_t> chunks, std::uint32_t put,
                std::uint32_t get) noexcept {
        for (const std::uint32_t chunk : chunks) {
            append(queue, chunk);
        }
        if (!chunks.empty()) {
            queue.put = put;
            queue.get_chunk = chunks.front();
            queue.get = get;
            queue.get_end = (chunks.front() + 1) * chunk_size_;
        }
    }
    /// The first chunks, so many, are those that were ever taken. Only where none is ever freed.
    void set_chunks_in_service(std::size_t chunks) noexcept {
        free_.list().restore({.claimed = free_.list().position().claimed, .waiting = 0, .fresh = chunks},
                             [](std::size_t) { return std::uint32_t{0}; });
    }

    /// Forgets all chunks. Only while nobody else uses them; the chains must be made anew.
    void reset() noexcept {
        free_.reset(0);
        next_.discard();
        first_finished_ = link::none;
    }

    memory_use memory() const noexcept { return memory_of(free_, next_); }

private:
    using atomic_link = typename Policy::template atomic<link>;

    /// Puts a chunk after those that wait for recycle(); their links are the consumer's now.
    void finish(std::uint32_t chunk) noexcept {
        link_of(chunk).store(link::none, std::memory_order::relaxed);
        if (first_finished_ == link::none) {
            first_finished_ = link_to(chunk);
        } else {
            link_of(last_finished_).store(link_to(chunk), std::memory_order::relaxed);
        }
        last_finished_ = chunk;
    }

    /// The links to the first chunk of a chain, and to the one after a chunk.
    static link first_of(const chain& queue) noexcept { return queue.first.load(std::memory_order::relaxed); }
    link link_after(std::uint32_t chunk) const noexcept {
        return link_of(chunk).load(std::memory_order::relaxed);
    }

    /// The link from a chunk to the next one.
    atomic_link& link_of(std::uint32_t chunk) noexcept { return next_[chunk]; }
    const atomic_link& link_of(std::uint32_t chunk) const noexcept { return next_[chunk]; }

    std::uint32_t chunk_size_;
    Supply free_;
    reversed_array<Policy, atomic_link> next_;
    // The consumer's: the chunks that the chains have done with.
    typename Policy::template plain<link> first_finished_{link::none};
    typename Policy::template plain<std::uint32_t> last_finished_{0};
};

} // namespace handlepool::detail
