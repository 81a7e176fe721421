// SPDX-License-Identifier: MIT

// Bytes that claim to be a container, in a snapshot whose hashes are right; the first byte says which one.
// They are refused, and the container is as it was; or it is one that can be used, saved and loaded again.

#include "compare.hpp"
#include "require.hpp"

#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/property_store.hpp>
#include <handlepool/snapshots/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <istream>
#include <iterator>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::fuzz {
namespace {

struct text_archive {
    void save(std::ostream& out, const std::string& saved) const { out << saved; }
    std::string load(std::istream& in) const {
        return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    }
};

std::vector<std::byte> snapshot_with(std::span<const std::byte> payload) {
    std::vector<std::byte> bytes;
    detail::snapshot_writer to(bytes);
    to.begin_block(detail::block_kind::container, 1, "it", payload.size());
    to.bytes(payload.data(), payload.size());
    to.end_block();
    to.finish();
    return bytes;
}

/// Eight objects of a pool, which lives as long as the program, and what is attached to it.
class fuzzed_containers {
public:
    using handle_type = handle<int>;

    fuzzed_containers() {
        for (int i = 0; i != 8; ++i) {
            numbers_.emplace(i);
        }
        numbers_.compact();
        set_.attach(numbers_);
        map_.attach(numbers_);
        index_.attach(numbers_, [](int number) { return std::to_string(number); });
        many_.attach(numbers_, [](int number) { return static_cast<std::uint32_t>(number / 2); });
        tree_.attach(numbers_);
        bags_.attach(numbers_);
    }

    void load(unsigned which, std::span<const std::byte> payload) {
        switch (which % 6) {
        case 0:
            try_it(set_, payload);
            break;
        case 1:
            try_it(map_, payload);
            break;
        case 2:
            try_it(index_, payload, text_archive());
            break;
        case 3:
            try_it(many_, payload);
            break;
        case 4:
            try_it(tree_, payload);
            break;
        default:
            try_it(bags_, payload);
        }
    }

private:
    template <class Container, class... Archive>
    void try_it(Container& container, std::span<const std::byte> payload, const Archive&... archive) {
        snapshot all;
        all.add("it", container, archive...);
        std::vector<std::byte> before;
        all.save(before);
        compare(before, snapshot_with(payload));
        try {
            all.load(snapshot_with(payload), "fuzzed");
        } catch (const invalid_snapshot& error) {
            require(std::string_view(error.what()).starts_with("snapshot 'fuzzed', byte "),
                    "a reason is given");
            std::vector<std::byte> after;
            all.save(after);
            require(before == after, "nothing has changed");
            return;
        }
        require(container.attached(), "it stays attached");
        std::vector<std::byte> loaded;
        all.save(loaded);
        use(container);
        all.load(loaded);
        std::vector<std::byte> again;
        all.save(again);
        require(again == loaded, "it can be loaded again");
        all.load(before);
    }

    template <class Container>
    void use(Container& container) {
        for (const auto& each : numbers_.entries()) {
            if constexpr (requires { container.children(each.handle); }) {
                container.try_set_parent(each.handle, numbers_.entries().begin()->handle);
            } else if constexpr (requires { container.insert(each.handle); }) {
                container.insert(each.handle);
            } else if constexpr (requires { container.try_emplace(each.handle, 1U); }) {
                container.try_emplace(each.handle, 1U);
            }
        }
        while (!container.empty()) {
            if constexpr (requires { container.handles(); }) {
                container.erase(container.handles().front());
            } else {
                container.clear();
            }
        }
    }

    pool<int> numbers_{{.name = "numbers", .capacity = 8, .pool_id = 5}};
    handle_set<int> set_;
    handle_map<int, std::uint32_t> map_;
    handle_index<int, std::string> index_;
    handle_index<int, std::uint32_t> many_{duplicate_keys::allow};
    hierarchy<int> tree_;
    property_store<int> bags_;
};

} // namespace
} // namespace handlepool::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static handlepool::fuzz::fuzzed_containers containers;
    if (size != 0) {
        containers.load(data[0], {reinterpret_cast<const std::byte*>(data) + 1, size - 1});
    }
    return 0;
}
