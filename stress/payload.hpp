#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace handlepool::stress {

// An object whose content follows from its id: one that is torn, half built or another's is recognized.
class payload {
public:
    explicit payload(std::uint64_t id) noexcept : id_(id) {
        for (std::size_t i = 0; i < words_.size(); ++i) {
            words_[i] = word(id, i);
        }
    }

    std::uint64_t id() const noexcept { return id_; }

    // Is this the object that was made from `id`, whole?
    bool is(std::uint64_t id) const noexcept {
        bool same = id_ == id;
        for (std::size_t i = 0; i < words_.size(); ++i) {
            same = same && words_[i] == word(id, i);
        }
        return same;
    }

private:
    static constexpr std::uint64_t word(std::uint64_t id, std::size_t position) noexcept {
        return (id + 1) * 0x9e3779b97f4a7c15U + position * 0xbf58476d1ce4e5b9U;
    }

    std::uint64_t id_;
    std::array<std::uint64_t, 7> words_{};
};

static_assert(sizeof(payload) == 64);

} // namespace handlepool::stress
