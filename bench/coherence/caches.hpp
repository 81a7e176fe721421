// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace handlepool::coherence {

/// The line of an address, by a number that the simulator's user gives; and a place in the line, in bytes.
using line_number = std::uint64_t;

inline constexpr std::size_t line_size = 64;

/// The unit in which true and false sharing are told apart.
inline constexpr std::size_t word_size = 4;
inline constexpr std::size_t words_of_line = line_size / word_size;

/// The most threads, each with a cache of its own.
inline constexpr std::size_t most_threads = 256;

enum class access_kind : std::uint8_t { read, write };

/// What the caches did for an access.
struct access_outcome {
    bool transfer = false;         ///< the line came from another cache
    bool upgrade = false;          ///< the line was here, shared, and was made the writer's own
    bool memory = false;           ///< no cache had the line
    std::uint32_t invalidated = 0; ///< copies that other caches lost
};

/// A transfer that would not have happened if words of the line that different threads use lay apart.
struct false_transfer {
    line_number line = 0;
    std::uint32_t thread = 0;         ///< got the line again
    std::uint32_t word = 0;           ///< the word of the line that it wanted
    std::uint32_t purpose = 0;        ///< as given with the access
    std::uint32_t writer = 0;         ///< the thread that had written another word since
    std::uint32_t written_word = 0;   ///< that word
    std::uint32_t writer_purpose = 0; ///< as given with the write
};

/// Is told of what shows later than in the access itself.
class cache_observer {
public:
    /// A cache lost its copy because another thread wrote.
    virtual void lost(line_number line, std::uint32_t thread) = 0;
    /// Known when the copy is lost again, because until then the thread might have used what was new.
    virtual void shared_falsely(const false_transfer& found) = 0;

protected:
    ~cache_observer() = default;
};

/// Coherent caches: MESI with a directory. Each thread has a cache of its own, which holds any number of
/// lines. So what is counted follows from sharing alone, never from the size of a cache.
///
/// A transfer is *false sharing* when from then on, as long as the copy stays, its thread touches no word
/// that another thread has written since it had the line before. The first transfer of a line to a thread is
/// never counted as such: the thread would have had to get the line from somewhere anyway.
class caches {
public:
    /// At most most_threads, else throws std::invalid_argument. The observer must outlive this.
    caches(std::size_t threads, cache_observer& observer);

    /// Thread `thread` reads or writes the `bytes` from `offset` on, which lie within the line. A
    /// read-modify-write is a write. `purpose` comes back with false_transfer.
    access_outcome access(std::uint32_t thread, line_number line, std::size_t offset, std::size_t bytes,
                          access_kind kind, std::uint32_t purpose = 0);

    /// Does the thread's cache have the line?
    bool holds(std::uint32_t thread, line_number line) const noexcept;

    /// Reports the copies that are still there and whose words were not used; counting starts anew.
    void settle();

private:
    static constexpr std::uint32_t nobody = most_threads;

    struct word {
        std::uint32_t written_at = 0;
        std::uint32_t purpose = 0;
        std::uint32_t writer = nobody;
    };
    // Of a thread that had the line, and lost it or got it again.
    struct visitor {
        std::uint32_t thread = 0;
        std::uint32_t lost_at = 0;
        bool undecided = false; // it has the line, and what it wanted was not new
        false_transfer suspected;
    };
    struct line {
        std::bitset<most_threads> holders;
        std::uint32_t owner = nobody; // has the only copy: exclusive or modified
        std::array<word, words_of_line> words;
        std::vector<visitor> visitors;
    };
    static constexpr std::size_t lines_of_block = 64;
    using block = std::array<line, lines_of_block>;

    line& line_at(line_number number);
    static visitor* visitor_of(line& one, std::uint32_t thread);
    const word* newest_since(const line& one, std::uint32_t thread, std::uint32_t since) const;
    static bool uses_news(const line& one, const visitor& mine, std::size_t first, std::size_t last);
    void judge_transfer(line& one, const false_transfer& access, std::size_t first, std::size_t last);
    std::uint32_t invalidate_others(line& one, line_number number, std::uint32_t thread);

    std::size_t threads_;
    cache_observer& observer_;
    std::uint32_t writes_ = 0;
    std::vector<std::unique_ptr<block>> blocks_;
};

} // namespace handlepool::coherence
