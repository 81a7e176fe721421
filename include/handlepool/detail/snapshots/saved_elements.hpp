// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/columns/type_list.hpp>
#include <handlepool/detail/memory/large_copy.hpp>
#include <handlepool/detail/objects/object_buffer.hpp>
#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/detail/snapshots/archive_stream.hpp>
#include <handlepool/detail/snapshots/saved_type.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <istream>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// Makes a New of an Old, which is read by its archive or is its bytes. The user's upgrade() makes them.
template <class Old, class New, class Function, class Archive = no_archive>
struct upgrade_step {
    using old_type = Old;
    using new_type = New;
    static constexpr saved_type type = saved_type_of<Old, Archive>();

    Function function;
    [[no_unique_address]] Archive archive;
};

template <class T>
inline constexpr bool is_upgrade_step = false;
template <class Old, class New, class Function, class Archive>
inline constexpr bool is_upgrade_step<upgrade_step<Old, New, Function, Archive>> = true;
template <class T>
concept upgrade_step_like = is_upgrade_step<T>;

/// The elements of a pool, of a column, of a container or of a value, of type T: bytes, or written and read
/// by an archive. A load also makes them of older ones, by `Steps`.
///
/// ```
///   saved:    prepare() ─▶ bytes() ─▶ write()
///   loaded:   read() or make_defaults() ─▶ put_in() or assign_to() ─▶ forget()
/// ```
template <class T, class Archive, class... Steps>
class saved_elements {
    static constexpr bool is_bytes = std::is_same_v<Archive, no_archive>;
    /// Without content there is nothing to put in: a column of such elements may have no memory.
    static constexpr bool has_content = !(std::is_empty_v<T> && std::is_trivially_copyable_v<T>);
    static_assert((is_bytes && sizeof...(Steps) == 0) || std::is_nothrow_move_constructible_v<T>,
                  "loading moves objects to their places and can't fail half-way: they must be nothrow move "
                  "constructible");

public:
    saved_elements(const object_type<T>& type, element_names names, Archive archive,
                   std::tuple<Steps...> steps)
        : type_(type_of(type)),
          names_(std::move(names)),
          archive_(std::move(archive)),
          steps_(std::move(steps)),
          made_(type) {}

    /// Whether elements can lie in a file as they do in memory.
    static constexpr bool may_lie_as_in_memory = is_bytes && has_content;

    const element_names& names() const noexcept { return names_; }

    /// `for_each_run(visit)` calls `visit(memory, count)` for elements that are neighbours, in their order.
    /// They stay as they are until write(). Throws std::bad_alloc, and what the archive throws.
    template <class ForEachRun>
    void prepare(std::size_t count, [[maybe_unused]] ForEachRun for_each_run) {
        count_ = count;
        if constexpr (!is_bytes) {
            std::ostringstream out = archive_output();
            ends_.clear();
            ends_.reserve(count);
            for_each_run([&](const void* run, std::size_t length) {
                const T* const first = std::launder(static_cast<const T*>(run));
                for (std::size_t i = 0; i != length; ++i) {
                    archive_.save(out, first[i]);
                    ends_.push_back(static_cast<std::uint64_t>(out.tellp()));
                }
            });
            written_ = std::move(out).str();
        }
    }
    /// With the header, which has the name of the column.
    std::uint64_t bytes(std::string_view column) const noexcept {
        return bytes_of(header(column)) + element_bytes();
    }
    template <class ForEachRun>
    void write(snapshot_writer& to, std::string_view column, [[maybe_unused]] ForEachRun for_each_run) {
        detail::write(to, header(column));
        if constexpr (is_bytes) {
            if (type_.size != 0) {
                for_each_run(
                    [&](const void* run, std::size_t length) { to.bytes(run, length * type_.size); });
            }
        } else {
            std::uint64_t before = 0;
            for (const std::uint64_t end : ends_) {
                to.number(end - std::exchange(before, end));
            }
            to.bytes(written_.data(), written_.size());
            written_ = {};
        }
    }

    /// Reads as many elements, whose header was read last. Throws invalid_snapshot and std::bad_alloc.
    void read(block_reader& from, const elements_header& there, std::size_t count) {
        made_.clear();
        if (there.type == type_) {
            if constexpr (is_bytes) {
                require_size(from, there, count);
                read_ = from.bytes(there.bytes);
            } else {
                read_each(from, there, count);
            }
        } else if (!upgrade_from(from, there, count, std::index_sequence_for<Steps...>())) {
            refuse_type(from, there, names_, std::array{type_, Steps::type...});
        }
    }
    /// Whether those that were read lie there as in memory, and were not made of others.
    bool lie_as_in_memory() const noexcept { return !read_.empty(); }
    /// Bytes of so many elements in memory, where they are neighbours.
    std::uint64_t bytes_in_memory(std::uint64_t count) const noexcept
        requires(may_lie_as_in_memory)
    {
        return count * type_.size;
    }
    /// Of a column that isn't there. Throws invalid_snapshot where elements have no default.
    void make_defaults(block_reader& from, std::size_t count) {
        made_.clear();
        if constexpr (!has_content) {
            return;
        } else if constexpr (std::default_initializable<T>) {
            made_.reserve(count);
            for (std::size_t i = 0; i != count; ++i) {
                make_next(from, 0, "can't be made anew", i, [] { return T(); });
            }
        } else {
            from.refuse(0, names_.all() + " isn't there, and its type has no default");
        }
    }

    /// Makes elements, from the `first` on, in raw memory, where they are neighbours.
    void put_in(std::size_t first, void* memory, std::size_t count = 1) noexcept {
        if (made_.size() != 0) {
            if constexpr (has_content && !std::is_void_v<T>) { // which is never made
                for (std::size_t i = 0; i != count; ++i) {
                    object_type<T>::relocate(static_cast<std::byte*>(memory) + i * sizeof(T),
                                             made_.at(first + i));
                }
            }
        } else if constexpr (is_bytes && has_content) {
            const std::size_t size = type_.size;
            large_copy(static_cast<std::byte*>(memory), read_.subspan(first * size, count * size));
        }
    }
    /// Gives a value the only element.
    template <class Value>
        requires(std::same_as<Value, T>)
    void assign_to(Value& value) noexcept {
        if (made_.size() != 0) {
            value = std::move(*std::launder(static_cast<Value*>(made_.at(0))));
        } else if constexpr (is_bytes) {
            put_in(0, std::addressof(value));
        }
    }
    /// Element `i`, which is moved away.
    T take(std::size_t i) noexcept
        requires(!std::is_void_v<T>)
    {
        if constexpr (is_bytes || !has_content) {
            if (made_.size() == 0) {
                std::array<std::byte, sizeof(T)> bytes{};
                const std::size_t size = type_.size;
                std::ranges::copy(read_.subspan(i * size, size), bytes.begin());
                return std::bit_cast<T>(bytes);
            }
        }
        return std::move(*std::launder(static_cast<T*>(made_.at(i))));
    }
    /// put_in() has moved them all, or they are not wanted any more.
    void forget(bool moved) noexcept {
        if (moved) {
            made_.forget();
        } else {
            made_.clear();
        }
        read_ = {};
    }

private:
    template <std::size_t Step>
    using step_at = type_at<Step, Steps...>;

    static saved_type type_of([[maybe_unused]] const object_type<T>& type) noexcept {
        if constexpr (std::is_void_v<T>) {
            return {.encoding = element_encoding::bytes,
                    .version = 0,
                    .size = type.stride(),
                    .alignment = type.alignment(),
                    .layout = {}};
        } else {
            static_assert(all_differ({saved_type_of<T, Archive>(), Steps::type...}),
                          "two versions look the same in a file: give one of them another snapshot_version");
            return saved_type_of<T, Archive>();
        }
    }
    static constexpr bool all_differ(std::initializer_list<saved_type> types) noexcept {
        for (const saved_type* one = types.begin(); one != types.end(); ++one) {
            for (const saved_type* other = types.begin(); other != one; ++other) {
                if (*one == *other) {
                    return false;
                }
            }
        }
        return true;
    }

    std::uint64_t element_bytes() const noexcept {
        return is_bytes ? count_ * type_.size : ends_.size() * sizeof(std::uint64_t) + written_.size();
    }
    elements_header header(std::string_view column) const noexcept {
        return {.name = column, .type = type_, .bytes = element_bytes()};
    }

    /// Those that an archive has written.
    void read_each(block_reader& from, const elements_header& there, std::size_t count) {
        const std::vector<std::uint64_t> sizes = read_archived_sizes(from, there, count);
        made_.reserve(count);
        for (std::size_t i = 0; i != count; ++i) {
            read_archived(
                from, sizes[i], [this, i] { return names_.one(i); },
                [this](std::istream& in) {
                    ::new (made_.next()) T(archive_.load(in));
                    made_.add();
                });
        }
    }

    /// By the step whose old type is that of the elements. Returns whether there is one.
    template <std::size_t... Is>
    bool upgrade_from([[maybe_unused]] block_reader& from, [[maybe_unused]] const elements_header& there,
                      [[maybe_unused]] std::size_t count, std::index_sequence<Is...>) {
        return ((there.type == step_at<Is>::type && (upgrade_each<Is>(from, there, count), true)) || ...);
    }
    template <std::size_t Step>
    void upgrade_each(block_reader& from, const elements_header& there, std::size_t count) {
        using step = step_at<Step>;
        using old_type = typename step::old_type;
        if constexpr (step::type.encoding == element_encoding::bytes) {
            require_size(from, there, count);
            made_.reserve(count);
            for (std::size_t i = 0; i != count; ++i) {
                std::array<std::byte, sizeof(old_type)> bytes{};
                std::ranges::copy(from.bytes(step::type.size), bytes.begin());
                make_next(from, step::type.size, "can't be upgraded", i,
                          [&] { return upgraded<Step>(std::bit_cast<old_type>(bytes)); });
            }
        } else {
            const std::vector<std::uint64_t> sizes = read_archived_sizes(from, there, count);
            made_.reserve(count);
            for (std::size_t i = 0; i != count; ++i) {
                std::optional<old_type> old;
                read_archived(
                    from, sizes[i], [this, i] { return names_.one(i); },
                    [&](std::istream& in) { old.emplace(std::get<Step>(steps_).archive.load(in)); });
                make_next(from, sizes[i], "can't be upgraded", i,
                          [&] { return upgraded<Step>(std::move(*old)); });
            }
        }
    }
    /// What this step and those behind it make of an old one.
    template <std::size_t Step>
    T upgraded(typename step_at<Step>::old_type&& old) {
        using new_type = typename step_at<Step>::new_type;
        if constexpr (std::is_same_v<new_type, T>) {
            return std::get<Step>(steps_).function(std::move(old));
        } else {
            constexpr std::size_t next = index_of<new_type, typename Steps::old_type...>();
            static_assert(
                next > Step && next < sizeof...(Steps),
                "an upgrade leads to a version from which no later one leads on; give them in order, "
                "from the oldest version to the type that is added");
            return upgraded<next>(new_type(std::get<Step>(steps_).function(std::move(old))));
        }
    }

    template <class Make>
    void make_next(const block_reader& from, std::uint64_t bytes, std::string_view failed, std::size_t i,
                   Make make) {
        if (const std::exception_ptr error = capture_exception([&] { ::new (made_.next()) T(make()); })) {
            throw_unreadable(from, bytes, names_.one(i), failed, error);
        }
        made_.add();
    }

    saved_type type_;
    element_names names_;
    [[no_unique_address]] Archive archive_;
    [[no_unique_address]] std::tuple<Steps...> steps_;
    // During a save:
    std::size_t count_ = 0;
    std::vector<std::uint64_t> ends_; // in `written_`
    std::string written_;
    // During a load, those that are bytes, and the others:
    std::span<const std::byte> read_;
    object_buffer<T> made_;
};

} // namespace handlepool::detail
