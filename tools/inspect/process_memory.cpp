// SPDX-License-Identifier: MIT
#include "process_memory.hpp"

#include <algorithm>
#include <array>

namespace handlepool::inspect_tool {

std::string process_memory::read_text(const void* address, std::uint64_t size, std::size_t most) const {
    std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(size, most)), '\0');
    read(reinterpret_cast<std::uintptr_t>(address), std::as_writable_bytes(std::span(text)));
    return text;
}

std::string process_memory::read_string(const void* address, std::size_t most) const {
    // Up to the end of a small block at a time: what is behind the text may be no memory.
    constexpr std::uint64_t block = 64;
    std::string text;
    auto from = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address));
    while (text.size() < most) {
        std::array<char, block> part;
        const std::size_t size = static_cast<std::size_t>(block - from % block);
        read(from, std::as_writable_bytes(std::span(part).first(size)));
        const auto end = std::find(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(size), '\0');
        text.append(part.begin(), end);
        if (end != part.begin() + static_cast<std::ptrdiff_t>(size)) {
            return text;
        }
        from += size;
    }
    return text;
}

} // namespace handlepool::inspect_tool
