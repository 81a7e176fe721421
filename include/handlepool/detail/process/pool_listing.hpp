// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/memory/described_pool.hpp>

#include <cstdint>

namespace handlepool::detail {

/// A living pool, as others find it from the pool id of a handle: debuggers, for which tools/debuggers/ reads
/// this, and programs that read this one's memory, by its description. Programs have its type from this
/// header: a library without debug information will do.
struct living_pool {
    // The widths of its handles' parts, and its id.
    unsigned index_bits = 0;
    unsigned generation_bits = 0;
    unsigned pool_id_bits = 0;
    unsigned handle_bits = 0; ///< of all parts, user bits included
    std::uint32_t id = 0;
    std::uint64_t number = 0; ///< how many pools were listed before, so that no other one has it

    const char* name = nullptr;
    /// The pool_impl, and a function whose parameter points to its type: debuggers know the type of a
    /// function from its address.
    const void* core = nullptr;
    void (*function_of_type)() = nullptr;

    described_pool description{};

    living_pool* next = nullptr;
    living_pool* previous = nullptr;
};

/// A living service, which has no name. Its pools are listed like all others.
struct living_service {
    std::uint64_t number = 0; ///< how many services were listed before, so that no other one has it
    described_gate gate{};

    living_service* next = nullptr;
    living_service* previous = nullptr;
};

/// The first living pool of the process, and the first living service; null when there is none.
HANDLEPOOL_EXPORT inline constinit living_pool* living_pools = nullptr;
HANDLEPOOL_EXPORT inline constinit living_service* living_services = nullptr;

/// Its address stands for the type.
template <class Core>
void function_of_type(const Core*) noexcept {}

/// Lists a pool for the rest of its life. Any thread may list one at any time; they block each other briefly.
class HANDLEPOOL_EXPORT pool_listing {
public:
    /// Describes a complete pool with handles of this layout; `name` must live as long as the listing.
    template <class Layout, class Core>
    static living_pool of(const Core& core, std::uint32_t id, const char* name) noexcept {
        return {.index_bits = Layout::index_bits,
                .generation_bits = Layout::generation_bits,
                .pool_id_bits = Layout::pool_id_bits,
                .handle_bits = Layout::bits,
                .id = id,
                .name = name,
                .core = &core,
                .function_of_type = reinterpret_cast<void (*)()>(&detail::function_of_type<Core>)};
    }

    explicit pool_listing(const living_pool& pool) noexcept : pool_(pool) {}
    ~pool_listing();

    pool_listing(const pool_listing&) = delete;
    pool_listing& operator=(const pool_listing&) = delete;

    /// To be filled before the pool is listed.
    described_pool& description() noexcept { return pool_.description; }

    /// Once.
    void list() noexcept;

private:
    living_pool pool_;
    bool is_listed_ = false;
};

/// Lists a service as long as it lives. Like pool_listing.
class HANDLEPOOL_EXPORT service_listing {
public:
    explicit service_listing(const described_gate& gate) noexcept;
    ~service_listing();

    service_listing(const service_listing&) = delete;
    service_listing& operator=(const service_listing&) = delete;

private:
    living_service service_;
};

} // namespace handlepool::detail
