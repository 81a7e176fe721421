// SPDX-License-Identifier: MIT
#include "debug_info.hpp"

#include <cctype>
#include <cstddef>
#include <string_view>

namespace handlepool::detail {

namespace {

bool begins_word(std::string_view text, std::size_t at) {
    return at == 0 || (std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0 && text[at - 1] != '_');
}

} // namespace

std::string short_function_name(std::string_view function) {
    constexpr std::string_view call_operator = "operator()";
    constexpr std::string_view unnamed = "(anonymous namespace)";
    int depth = 0;         // of template arguments, and of what surrounds a lambda's name
    std::size_t first = 0; // behind the type that is returned
    std::size_t i = 0;
    while (i < function.size()) {
        const std::string_view rest = function.substr(i);
        if (depth == 0 && rest.starts_with(call_operator) && begins_word(function, i)) {
            i += call_operator.size();
        } else if (depth == 0 && rest.starts_with(unnamed)) {
            i += unnamed.size();
        } else if (depth == 0 &&
                   (rest.front() == '(' || (rest.starts_with("operator") && begins_word(function, i)))) {
            break; // the sign of an operator is no bracket
        } else {
            depth += rest.front() == '<' || rest.front() == '{' ? 1 : 0;
            depth -= rest.front() == '>' || rest.front() == '}' ? 1 : 0;
            ++i;
            first = depth == 0 && rest.front() == ' ' ? i : first;
        }
    }
    const std::size_t last = function.find('(', i);
    const std::string_view name = function.substr(first, last == function.npos ? last : last - first);
    return std::string(name).append("()");
}

} // namespace handlepool::detail
