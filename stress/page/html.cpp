#include "html.hpp"

namespace handlepool::stress::page {

std::string escaped(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    for (const char character : text) {
        switch (character) {
        case '&':
            result += "&amp;";
            break;
        case '<':
            result += "&lt;";
            break;
        case '>':
            result += "&gt;";
            break;
        case '"':
            result += "&quot;";
            break;
        case '\'':
            result += "&#39;";
            break;
        default: {
            const auto code = static_cast<unsigned char>(character);
            const bool control = (code < 0x20 && character != '\n' && character != '\t') || code == 0x7f;
            if (control) {
                result += "\ufffd";
            } else {
                result += character;
            }
        }
        }
    }
    return result;
}

} // namespace handlepool::stress::page
