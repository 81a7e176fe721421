// SPDX-License-Identifier: MIT
#pragma once

#include "pool_names.hpp"
#include "sim_object.hpp"
#include "sim_policy.hpp"

#include <handlepool/pool.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string_view>

/// What is compared. Each is made with the number of objects that will be alive, and has emplace, erase,
/// find, which reads the object, and end_frame, for what it does once a frame.
namespace handlepool::coherence {

/// As a user would choose it: a tenth is erased and a tenth created before the next compaction.
constexpr std::size_t capacity_for(std::size_t alive) {
    return alive + alive / 4;
}

/// An object at the beginning of a line, whose memory is on the machine while it is made.
template <class T>
class simulated {
public:
    template <class... Args>
    explicit simulated(std::string_view name, Args&&... args) {
        machine::current()->memory().add_object(memory_, sizeof(memory_), name);
        object_ = ::new (memory_) T(std::forward<Args>(args)...);
    }
    ~simulated() {
        object_->~T();
        machine::current()->memory().remove(memory_);
    }

    simulated(const simulated&) = delete;
    simulated& operator=(const simulated&) = delete;

    T& operator*() noexcept { return *object_; }
    T* operator->() noexcept { return object_; }

private:
    T* object_ = nullptr;
    alignas(T) alignas(line_size) std::byte memory_[(sizeof(T) + line_size - 1) / line_size * line_size]{};
};

/// The pool, as it ships.
class pool_contender {
public:
    static constexpr std::string_view name = "pool";
    using pool_type = handlepool::pool<sim_object, handlepool::with_policy<sim_policy>>;
    using handle_type = pool_type::handle_type;

    explicit pool_contender(std::size_t alive) {
        name_parts_of_pool(machine::current()->memory(), pool_name);
        pool_.emplace("pool", pool_options{.name = std::string(pool_name), .capacity = capacity_for(alive)});
    }

    handle_type emplace(std::uint64_t seed) { return (*pool_)->emplace(seed); }
    bool erase(handle_type handle) noexcept { return (*pool_)->erase(handle); }
    std::optional<std::uint64_t> find(handle_type handle) noexcept {
        const sim_object* const found = (*pool_)->find(handle);
        return found == nullptr ? std::nullopt : std::optional(found->read());
    }
    void end_frame() { (*pool_)->compact(); }
    std::size_t size() noexcept { return (*pool_)->size(); }

private:
    static constexpr std::string_view pool_name = "bench";

    std::optional<simulated<pool_type>> pool_;
};

} // namespace handlepool::coherence
