// SPDX-License-Identifier: MIT
#include "order_list.hpp"

#include <fmt/core.h>

#include <atomic>
#include <cstddef>
#include <fstream>
#include <set>
#include <stdexcept>

namespace handlepool::model {

std::vector<order_mutant> all_order_mutants(const std::filesystem::path& sources) {
    std::vector<order_mutant> mutants;
    for (const char* const folder : {"include/handlepool", "src/core/threads"}) {
        for (const ordered_access& access : find_ordered_accesses(sources / folder)) {
            for (const std::memory_order weaker : access.weaker()) {
                mutants.push_back(
                    {fmt::format("({}) {} {}: {}: {} -> {}", access.number, access.file, access.function,
                                 access.access, name_of(access.order), name_of(weaker)),
                     {true, access.place, weaker, access.of_failure}});
            }
        }
    }
    return mutants;
}

std::map<std::string, std::string> read_order_witnesses(const std::filesystem::path& file) {
    std::ifstream in(file);
    if (!in) {
        throw std::runtime_error(file.string() + " can't be read");
    }
    std::map<std::string, std::string> witnesses;
    int number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        if (line.empty() || line.starts_with('#')) {
            continue;
        }
        const std::size_t bar = line.find(" | ");
        if (bar == std::string::npos ||
            !witnesses.emplace(line.substr(0, bar), line.substr(bar + 3)).second) {
            throw std::runtime_error(fmt::format("{}:{}: expected \"(NUMBER) FILE FUNCTION: ACCESS: ORDER -> "
                                                 "ORDER | MODEL\", each access once",
                                                 file.string(), number));
        }
    }
    return witnesses;
}

std::string differences_from_headers(const std::vector<order_mutant>& mutants,
                                     const std::map<std::string, std::string>& witnesses) {
    std::string found;
    std::set<std::string_view> names;
    for (const order_mutant& each : mutants) {
        names.insert(each.name);
        if (!witnesses.contains(each.name)) {
            found += "\n  has no witness: " + each.name;
        }
    }
    for (const auto& [name, witness] : witnesses) {
        if (!names.contains(name)) {
            found += "\n  is no access of the headers: " + name;
        }
    }
    return found;
}

} // namespace handlepool::model
