// SPDX-License-Identifier: MIT
#include "ordered_access.hpp"

#include <support/files/read_file.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <utility>

namespace handlepool::model {
namespace {

constexpr std::array<const char*, 6> order_names = {"relaxed", "consume", "acquire",
                                                    "release", "acq_rel", "seq_cst"};

std::memory_order order_of(const std::string& name) {
    const auto found = std::ranges::find(order_names, name);
    if (found == order_names.end()) {
        throw std::runtime_error("there is no memory order '" + name + "'");
    }
    return static_cast<std::memory_order>(found - order_names.begin());
}

struct source_text {
    std::string name;
    std::string path; // with the folder that was searched
    std::string text;

    std::uint32_t line_of(std::size_t position) const {
        const auto end = text.begin() + static_cast<std::ptrdiff_t>(position);
        return static_cast<std::uint32_t>(std::count(text.begin(), end, '\n') + 1);
    }
    std::string line_before(std::size_t& position) const { // and steps to its begin
        const std::size_t end = position == 0 ? 0 : position - 1;
        const std::size_t begin = end == 0 ? 0 : text.rfind('\n', end - 1) + 1;
        position = begin;
        return text.substr(begin, end - begin);
    }
};

std::size_t begin_of_line(const std::string& text, std::size_t position) {
    const std::size_t end_before = text.rfind('\n', position);
    return end_before == std::string::npos ? 0 : end_before + 1;
}

struct call_arguments {
    std::string own;        ///< without what stands in parentheses of its own
    std::size_t behind = 0; ///< the call
};

call_arguments arguments_of(const std::string& text, std::size_t open) {
    call_arguments found{{}, open};
    int depth = 0;
    do {
        const char next = text.at(found.behind++);
        depth += next == '(' ? 1 : next == ')' ? -1 : 0;
        if (depth == 1) {
            found.own += next;
        }
    } while (depth != 0);
    return found;
}

/// The number in the comment above the access; nothing but the begin of its own statement may stand between.
std::string number_above(const source_text& source, std::size_t access) {
    static const std::regex comment(R"(^\s*//)");
    static const std::regex number(R"(\((\d+)\))");
    static const std::regex end_of_another(R"([;{}]$)");
    std::size_t position = begin_of_line(source.text, access);
    std::string block;
    for (int lines = 0; lines != 12 && position != 0; ++lines) {
        const std::string line = source.line_before(position);
        if (std::regex_search(line, comment)) {
            block = line + "\n" + block;
        } else if (!block.empty() || std::regex_search(line, end_of_another)) {
            break;
        }
    }
    std::smatch found;
    return std::regex_search(block, found, number) ? found[1].str() : std::string();
}

/// The function in which a place stands: the name before the first parenthesis in a line that begins a member
/// or a definition.
std::string function_around(const source_text& source, std::size_t place) {
    static const std::regex declaration(R"(^(?:    )?[A-Za-z](?:[^=;(]*[ :*&])?(~?\w+)\()");
    std::size_t position = begin_of_line(source.text, place);
    while (position != 0) {
        const std::string line = source.line_before(position);
        std::smatch found;
        const bool statement = line.ends_with(';');
        if (!statement && std::regex_search(line, found, declaration)) {
            return found[1].str();
        }
    }
    return {};
}

/// Throws std::runtime_error when an order stands outside of the calls that were understood.
void require_understood(const source_text& source,
                        const std::vector<std::pair<std::size_t, std::size_t>>& calls) {
    static const std::regex order(R"((?:std::)?memory_order(::|_)(acquire|release|acq_rel|seq_cst))");
    for (std::sregex_iterator at(source.text.begin(), source.text.end(), order), end; at != end; ++at) {
        const auto place = static_cast<std::size_t>(at->position());
        const auto holds = [place](const auto& call) { return call.first <= place && place < call.second; };
        if ((*at)[1] == "_" || std::ranges::none_of(calls, holds)) {
            throw std::runtime_error(source.name + ":" + std::to_string(source.line_of(place)) + ": " +
                                     at->str() +
                                     " belongs to no access of the form "
                                     "WORD.OPERATION(..., std::memory_order::ORDER)");
        }
    }
}

void find_in(const source_text& source, std::vector<ordered_access>& to) {
    static const std::regex call(
        R"((\w+)(?:\[[^\]]*\])?\.(load|store|exchange|fetch_add|fetch_sub|fetch_and|fetch_or|)"
        R"(compare_exchange_weak|compare_exchange_strong)\()");
    static const std::regex order(R"(std::memory_order::(\w+))");
    const std::string& text = source.text;
    std::vector<std::pair<std::size_t, std::size_t>> calls;
    for (std::sregex_iterator at(text.begin(), text.end(), call), end; at != end; ++at) {
        const auto begin = static_cast<std::size_t>(at->position());
        const std::size_t open = begin + static_cast<std::size_t>(at->length()) - 1;
        const call_arguments arguments = arguments_of(text, open);
        calls.emplace_back(begin, arguments.behind);
        // The first is that of the access, the second that of an exchange that fails.
        bool of_failure = false;
        for (std::sregex_iterator named(arguments.own.begin(), arguments.own.end(), order); named != end;
             ++named) {
            const std::memory_order wanted = order_of((*named)[1].str());
            if (wanted != std::memory_order::relaxed) {
                ordered_access access{
                    .number = number_above(source, begin),
                    .file = source.name,
                    .function = function_around(source, begin),
                    .access = (*at)[1].str() + "." + (*at)[2].str() + (of_failure ? " that fails" : ""),
                    .order = wanted,
                    .of_failure = of_failure,
                    .place = {source.path, source.line_of(begin), source.line_of(arguments.behind)}};
                if (access.number.empty()) {
                    throw std::runtime_error(source.name + ":" + std::to_string(access.place.first_line) +
                                             ": " + access.access + " is " + name_of(access.order) +
                                             ", and no number in a comment before it tells why");
                }
                to.push_back(std::move(access));
            }
            of_failure = true;
        }
    }
    require_understood(source, calls);
}

} // namespace

const char* name_of(std::memory_order order) noexcept {
    return order_names.at(static_cast<std::size_t>(order));
}

std::vector<std::memory_order> ordered_access::weaker() const {
    using enum std::memory_order;
    const bool loads = of_failure || access.ends_with(".load");
    const bool stores = access.ends_with(".store");
    switch (order) {
    case acquire:
    case release:
        return {relaxed};
    case acq_rel:
        return {acquire, release};
    case seq_cst:
        return {loads ? acquire : stores ? release : acq_rel};
    default:
        return {};
    }
}

std::vector<ordered_access> find_ordered_accesses(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file()) {
            files.push_back(entry.path());
        }
    }
    std::ranges::sort(files);
    std::vector<ordered_access> found;
    for (const auto& file : files) {
        const auto path = folder.filename() / file.lexically_relative(folder);
        source_text source{file.filename().string(), "/" + path.generic_string(), support::read_file(file)};
        find_in(source, found);
    }
    if (found.empty()) {
        throw std::runtime_error(folder.string() +
                                 ": no header there has an access that is more than relaxed");
    }
    return found;
}

} // namespace handlepool::model
