// The freelist: claims of any threads, one producer.

#include "model_policy.hpp"
#include "models.hpp"
#include "shadowed_words.hpp"

#include <handlepool/fifo_freelist.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::model {

namespace {

using indices = std::vector<std::uint32_t>;

template <class List>
indices claim(List& list, std::size_t wanted, std::size_t in_use_limit) {
    std::array<std::uint32_t, 8> out{};
    const std::size_t count = list.claim(out.data(), wanted, in_use_limit);
    return {out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count)};
}

template <class List>
void free_all(List& list, const indices& freed) {
    for (const std::uint32_t index : freed) {
        list.release(index);
    }
    list.publish();
}

/// Two threads claim while the producer frees and uses the memory of entries again. What belongs to an index
/// is a variable that its holder writes: two holders at a time, or one that is not ordered behind the other,
/// are a race.
class claims_against_recycling : public model {
public:
    claims_against_recycling() : list_("list", {.index_limit = 3, .waiting_limit = 3, .reuse_delay = 0}) {
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
        indices all = claim(list_, 3, 3);
        for (indices more = claim(list_, 3, 3); !more.empty(); more = claim(list_, 3, 3)) {
            all.insert(all.end(), more.begin(), more.end());
        }
        for (const indices& held : held_) {
            all.insert(all.end(), held.begin(), held.end());
        }
        std::ranges::sort(all);
        require(all == indices{0, 1, 2}, "each index went out once, and none was lost");
    }

private:
    fifo_freelist<shadowed_policy> list_;
    std::array<model_plain<std::uint32_t>, 3> things_;
    std::array<indices, 2> held_;
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
    to.push_back(entry<claims_against_recycling>(
        "claims against recycling", 3,
        "no index has two holders, none is lost; entries are read before their memory is used again"));
    to.push_back(entry<refused_only_when_full<0>>("claims near the limit", 2,
                                                  "a claim is refused only when the limit is reached"));
    to.push_back(entry<refused_only_when_full<1>>("claims behind a reuse delay", 2,
                                                  "the same, while an index has to wait"));
    to.push_back(entry<views>("views of a freelist", 2, "no view is larger than what is in service"));
}

} // namespace handlepool::model
