// SPDX-License-Identifier: MIT
#include "../process_memory.hpp"

namespace handlepool::inspect_tool {

namespace {

[[noreturn]] void refuse() {
    throw process_unreadable("the memory of other programs is read on Linux only");
}

} // namespace

void process_memory::read(std::uint64_t, std::span<std::byte>) const {
    refuse();
}
void process_memory::for_each_touched(std::uint64_t, std::uint64_t, const range_visitor&) const {
    refuse();
}
void process_memory::read_touched(std::uint64_t, std::span<std::byte>) const {
    refuse();
}
bool sees_the_same_files(int) {
    refuse();
}
std::vector<data_range> data_ranges(int) {
    refuse();
}
std::string place_of_call(int, std::uint64_t) {
    refuse();
}
std::vector<int> readable_processes() {
    refuse();
}

std::string program_name(int) {
    refuse();
}
std::string thread_name(int, std::uint32_t) {
    refuse();
}
std::uint64_t resident_bytes(int, std::uint64_t, std::uint64_t) {
    refuse();
}
std::uint64_t now() noexcept {
    return 0;
}

} // namespace handlepool::inspect_tool
