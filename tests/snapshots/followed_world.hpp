// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/key_table.hpp>
#include <handlepool/pool_options.hpp>
#include <handlepool/property_store.hpp>
#include <handlepool/snapshots/snapshot.hpp>

#include <tests/snapshots/delta_world.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <iterator>
#include <ostream>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

// A pool with a container of each kind, all of which a replica follows.
namespace handlepool::test {

struct followed_name_archive {
    void save(std::ostream& out, const std::string& saved) const { out << saved; }
    std::string load(std::istream& in) const {
        return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    }
};
struct five_hashes {
    std::size_t operator()(std::uint32_t key) const noexcept { return key % 5; }
};
inline constexpr property_path told_mass("mass");

template <class Case>
class followed_world : public told_world<Case> {
    using base = told_world<Case>;

public:
    using typename base::handle_type;
    using typename base::object_type;
    using layout = typename handle_type::layout;

    explicit followed_world(std::size_t log_frames = 64, pool_options options = Case::options())
        : base(log_frames, options) {
        auto& pool = this->pool();
        set_.attach(pool);
        values_.attach(pool);
        words_.attach(pool);
        kinds_.attach(pool, [](const object_type& each) { return static_cast<std::uint32_t>(each.id % 7); });
        names_.attach(pool, [](const object_type& each) { return std::to_string(each.id % 50); });
        roots_.attach(pool);
        parts_.attach(pool);
        bags_.attach(pool);
        paths_.add({"mass"});
        bags_.set_names(paths_);
        add_containers_to(this->recorder());
        add_to(everything_);
    }

    /// Adds all that there is.
    template <class To>
    void add_to(To& to) {
        to.add("names", names_, followed_name_archive()); // before its pool
        Case::add_to(to, this->pool());
        to.add("calls", this->calls());
        add_all_but_names_to(to);
    }
    std::vector<std::byte> save() {
        std::vector<std::byte> bytes;
        everything_.save(bytes);
        return bytes;
    }

    /// Whatever play() calls for the pool, this one does for the containers.
    void play_with_containers(std::uint64_t seed, int calls) {
        std::mt19937_64 engine(seed);
        const auto below = [&engine](std::uint64_t end) { return engine() % end; };
        for (int i = 0; i != calls && !this->ever().empty(); ++i) {
            const handle_type one = any(below);
            const handle_type other = any(below);
            const bool alive = this->pool().contains(one) && this->pool().contains(other);
            const std::uint64_t kind = alive ? below(32) : 0;
            if (kind < 1) {
                loose_.insert(one); // whatever has become of it
            } else if (kind < 4) {
                set_.insert(one);
            } else if (kind < 6) {
                set_.erase(one);
            } else if (kind < 9) {
                values_.insert_or_assign(one, below(1'000));
                words_.try_emplace(one, std::to_string(below(1'000'000)));
            } else if (kind < 11) {
                values_.erase(one);
                words_.erase(other);
            } else if (kind < 13) {
                kinds_.rekey(one, static_cast<std::uint32_t>(below(7)));
                names_.rekey(one, std::to_string(below(50)));
            } else if (kind < 14) {
                kinds_.erase(one);
                names_.erase(other);
            } else if (kind < 23) {
                roots_.try_set_parent(one, other);
                parts_.try_set_parent(one, other);
            } else if (kind < 24) {
                roots_.erase(one);
            } else if (kind < 26) {
                parts_.clear_parent(one); // and its parent ends without it
                this->pool().erase(other);
            } else if (kind < 31) {
                bags_.set(one, told_mass, static_cast<float>(below(100)));
            } else if (below(20) == 0) {
                set_.clear();
                names_.clear();
                names_.clear_refused();
            }
        }
    }
    /// Removes members whose handles were revoked, of which no hook tells.
    void prune() {
        auto& pool = this->pool();
        set_.prune(pool);
        values_.prune(pool);
        words_.prune(pool);
        kinds_.prune(pool);
        names_.prune(pool);
        roots_.prune(pool);
        parts_.prune(pool);
        bags_.prune(pool);
    }

    /// All that the containers have, in order.
    std::string contents() const {
        std::ostringstream out;
        out << "set";
        put(out, set_.handles());
        out << "\nloose";
        put(out, loose_.handles());
        out << "\nvalues";
        values_.for_each([&out](handle_type each, std::uint64_t value) { put(out, each) << ' ' << value; });
        out << "\nwords";
        words_.for_each(
            [&out](handle_type each, const std::string& value) { put(out, each) << ' ' << value; });
        out << "\nkinds";
        put(out, kinds_.handles());
        for (std::uint32_t key = 0; key != 7; ++key) {
            out << ", " << key;
            for (const handle_type each : kinds_.find_all(key)) {
                put(out, each);
            }
        }
        put(out << "\nnames", names_);
        put(out << "\nroots", roots_);
        put(out << "\nparts", parts_);
        out << "\nbags";
        bags_.for_each([&out](handle_type each, property_view bag) {
            put(out, each) << ' ' << bag.template get<float>(told_mass).value_or(-1);
        });
        return out.str();
    }

    auto& set() { return set_; }
    auto& values() { return values_; }
    auto& kinds() { return kinds_; }
    auto& names() { return names_; }
    auto& parts() { return parts_; }
    auto& bags() { return bags_; }
    auto& paths() { return paths_; }

private:
    using key_index = handle_index<object_type, std::string, layout>;
    using tree = hierarchy<object_type, layout>;

    template <class To>
    void add_containers_to(To& to) {
        to.add("names", names_, followed_name_archive());
        add_all_but_names_to(to);
    }
    template <class To>
    void add_all_but_names_to(To& to) {
        to.add("set", set_);
        to.add("loose", loose_);
        to.add("values", values_);
        to.add("words", words_, followed_name_archive());
        to.add("kinds", kinds_);
        to.add("roots", roots_);
        to.add("parts", parts_);
        to.add("bags", bags_, names_in_file::included);
    }

    static std::ostream& put(std::ostream& out, handle_type handle) {
        return out << ' ' << handle.index() << '.' << handle.generation();
    }
    static void put(std::ostream& out, std::span<const handle_type> handles) {
        for (const handle_type each : handles) {
            put(out, each);
        }
    }
    static void put(std::ostream& out, const key_index& index) {
        for (const handle_type each : index.handles()) {
            put(out, each) << ' ' << *index.key_of(each);
        }
        out << ", refused";
        put(out, index.refused());
    }
    static void put(std::ostream& out, const tree& nodes) {
        for (const handle_type each : nodes.handles()) {
            put(out << ", node", each);
            put(out << " below", nodes.parent(each));
            put(out << " above", nodes.children(each));
        }
        out << ", roots";
        put(out, nodes.roots());
    }
    template <class Below>
    handle_type any(Below& below) {
        const auto& ever = this->ever();
        return ever[ever.size() - 1 - below((std::min<std::uint64_t>)(ever.size(), 60))];
    }

    handle_set<object_type, layout> set_;
    handle_set<object_type, layout> loose_; // is not attached
    handle_map<object_type, std::uint64_t, layout> values_;
    handle_map<object_type, std::string, layout> words_;
    handle_index<object_type, std::uint32_t, layout, five_hashes> kinds_{duplicate_keys::allow};
    key_index names_;
    tree roots_{orphans::become_roots};
    tree parts_{orphans::are_erased};
    key_table paths_;
    property_store<object_type, layout> bags_;
    snapshot everything_;
};

} // namespace handlepool::test
