// SPDX-License-Identifier: MIT

// The freelist: claims of any threads, one producer.

#include "model_policy.hpp"
#include "models.hpp"
#include "shadowed_words.hpp"

#include <handlepool/fifo_freelist.hpp>

#include <tests/support/freelist_tools.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace handlepool::model {
namespace {

using namespace detail;
using test::claim;
using test::free_all;
using test::indices;

/// After the threads: what waits and what they hold are the first `count` indices, each once.
template <class List>
void require_each_once(List& list, indices held, std::uint32_t count) {
    const indices waiting = claim(list, count);
    held.insert(held.end(), waiting.begin(), waiting.end());
    std::ranges::sort(held);
    require(held == test::sequence(0, count), "each index went out once, and none was lost");
}

/// Two threads claim while the producer frees and uses the memory of entries again. What belongs to an index
/// is a variable that its holder writes: two holders at a time, or one that is not ordered behind the other,
/// are a race.
class claims_against_recycling : public model {
public:
    claims_against_recycling() : list_("list", {.index_limit = 3, .waiting_limit = 3, .reuse_delay = 0}) {
        shadowed_word::forget_reads();
        claim(list_, 3, 3);
        free_all(list_, {0, 1});
    }

    void run(unsigned index) override {
        if (index == 2) {
            things_[2] = 2;
            free_all(list_, {2});
        } else {
            for (int round = 0; round != 2; ++round) {
                for (const std::uint32_t won : claim(list_, 2 - index, 3)) {
                    things_[won] = index;
                    held_[index].push_back(won);
                }
            }
        }
    }

    void check() override {
        indices held = held_[0];
        held.insert(held.end(), held_[1].begin(), held_[1].end());
        require_each_once(list_, held, 3);
    }

private:
    fifo_freelist<shadowed_policy> list_;
    std::array<model_plain<std::uint32_t>, 3> things_;
    std::array<indices, 2> held_;
};

/// A thread claims twice while the producer needs blocks. There are only as many as one claim can keep.
class blocks_kept_by_claims : public model {
public:
    blocks_kept_by_claims()
        : list_("list", {.index_limit = 3, .waiting_limit = 1, .max_threads = 1, .reuse_delay = 0}) {
        claim(list_, 3, 3);
        free_all(list_, {0});
    }

    void run(unsigned index) override {
        if (index == 0) {
            for (int tries = 0; tries != 4 && held_.size() != 2; ++tries) {
                const indices one = claim(list_, 1, 3);
                held_.insert(held_.end(), one.begin(), one.end());
            }
        } else {
            for (int tries = 0; tries != 4 && freed_ != 3; ++tries) {
                if (list_.waiting() == 0) {
                    free_all(list_, {freed_++});
                }
            }
        }
    }

    void check() override { require_each_once(list_, held_, freed_); }

private:
    fifo_freelist<model_policy> list_;
    indices held_;
    std::uint32_t freed_ = 1;
};

/// A thread claims while the producer frees more than the ring of blocks has places for. At first four
/// entries lie in three blocks, as far from each other as they can.
class ring_comes_round : public model {
public:
    ring_comes_round() { free_all(list_, claim(list_, 4, 4)); }

    void run(unsigned index) override {
        if (index == 0) {
            held_ = claim(list_, 2, 4);
            for (const std::uint32_t won : held_) {
                things_.at(won) = 1;
            }
        } else {
            for (int round = 0; round != 4; ++round) {
                const indices own = claim(list_, 1, 4);
                things_.at(own.at(0)) = 2; // there are two that nobody else takes
                free_all(list_, own);
            }
        }
    }

    void check() override { require_each_once(list_, held_, 4); }

private:
    // In the middle of a block; two blocks on, the ring begins anew.
    struct late_list : fifo_freelist<pair_policy> {
        late_list() : fifo_freelist("list", {.index_limit = 4, .waiting_limit = 4, .reuse_delay = 0}) {
            start_at(0, 5);
        }
    };

    late_list list_;
    std::array<model_plain<std::uint32_t>, 4> things_;
    indices held_;
};

/// Of three that may be in use never more than two are, but fresh and freed ones take turns.
template <std::size_t ReuseDelay>
class refused_only_when_full : public model {
public:
    refused_only_when_full()
        : list_("list", {.index_limit = 10, .waiting_limit = 10, .reuse_delay = ReuseDelay}),
          others_(claim(list_, 2, 3)) {}

    void run(unsigned index) override {
        if (index == 0) {
            mine_ = claim(list_, 1, 3);
            require(mine_.size() == 1, "a claim is refused only when the limit is reached");
        } else {
            for (int round = 0; round != 3; ++round) {
                free_all(list_, {others_.front()});
                others_.erase(others_.begin());
                const indices next = claim(list_, 1, 3);
                require(next.size() == 1, "a claim is refused only when the limit is reached");
                others_.push_back(next.front());
            }
        }
    }

    void check() override {
        require(std::ranges::find(others_, mine_.front()) == others_.end() &&
                    others_.front() != others_.back(),
                "no index went out twice");
        require(list_.in_use() == 3, "what is in use is counted");
    }

private:
    fifo_freelist<model_policy> list_;
    indices others_;
    indices mine_;
};

/// Two threads claim what they can get, of an index that was freed and of fresh ones.
class claims_up_to_the_limit : public model {
public:
    claims_up_to_the_limit() : list_("list", {.index_limit = 10, .waiting_limit = 10, .reuse_delay = 0}) {
        free_all(list_, claim(list_, 1, 4));
    }

    void run(unsigned index) override {
        indices& held = held_.at(index);
        for (indices more = claim(list_, 2, 4); !more.empty(); more = claim(list_, 2, 4)) {
            held.insert(held.end(), more.begin(), more.end());
        }
    }

    void check() override {
        indices all = held_[0];
        all.insert(all.end(), held_[1].begin(), held_[1].end());
        std::ranges::sort(all);
        require(all == indices{0, 1, 2, 3}, "as many go out as the limit says, each once");
    }

private:
    fifo_freelist<model_policy> list_;
    std::array<indices, 2> held_;
};

/// The reuse delay under contention: between the freeing of an index and its next use others were freed.
class reuse_distance_kept : public model {
public:
    reuse_distance_kept() : list_("list", {.index_limit = 6, .waiting_limit = 6, .reuse_delay = 2}) {
        mine_ = claim_one();
        for (int i = 0; i != 3; ++i) {
            free_one(claim_one());
        }
    }
    void run(unsigned index) override {
        if (index == 2) {
            free_one(mine_);
        } else {
            claim_one();
        }
    }

private:
    // Of the model: threads change only at accesses to atomics.
    std::uint32_t claim_one() {
        std::uint32_t index = 0;
        require(list_.claim(&index, 1, 6) == 1, "there are indices");
        if (freed_at_.at(index) != 0) {
            require(freed_ - freed_at_.at(index) >= 2, "an index waits until others were freed after it");
        }
        return index;
    }
    void free_one(std::uint32_t index) {
        list_.release(index);
        list_.publish();
        freed_at_.at(index) = ++freed_;
    }

    fifo_freelist<model_policy> list_;
    std::array<std::uint64_t, 6> freed_at_{};
    std::uint64_t freed_ = 0;
    std::uint32_t mine_ = 0;
};

/// Views of a list in motion, which has two indices.
class views : public model {
public:
    views() : list_("list", {.index_limit = 9, .waiting_limit = 9, .reuse_delay = 0}) {
        free_all(list_, claim(list_, 2, 9));
    }

    void run(unsigned index) override {
        if (index == 0) {
            require(list_.waiting() <= 2, "no more indices wait than are in service");
            require(list_.in_use() <= 2, "no more indices are in use than are in service");
        } else {
            for (int round = 0; round != 3; ++round) {
                free_all(list_, claim(list_, 2, 9));
            }
        }
    }

private:
    fifo_freelist<model_policy> list_;
};

} // namespace

void add_freelist_models(std::vector<model_entry>& to) {
    add<claims_against_recycling>(
        to, "claims against recycling", 3,
        "no index has two holders, none is lost; entries are read before their memory is used again");
    add<blocks_kept_by_claims>(to, "blocks kept by claims", 2,
                               "a claim keeps one block, so that there are enough");
    add<ring_comes_round>(to, "ring comes round", 2, "the ring of blocks has room for all that wait");
    add<refused_only_when_full<0>>(to, "claims near the limit", 2,
                                   "a claim is refused only when the limit is reached");
    add<refused_only_when_full<1>>(to, "claims behind a reuse delay", 2,
                                   "the same, while an index has to wait");
    add<claims_up_to_the_limit>(to, "claims up to the limit", 2,
                                "no more go out than the limit says, and no fewer");
    add<reuse_distance_kept>(to, "reuse distance", 3, "an index goes out again only behind the reuse delay");
    add<views>(to, "views of a freelist", 2, "no view is larger than what is in service");
}

} // namespace handlepool::model
