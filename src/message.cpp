#include <handlepool/detail/message.hpp>

namespace handlepool::detail {

fixed_message::fixed_message(std::string_view text) noexcept {
    text.copy(text_.data(), text_.size() - 1);
}

std::string quoted_pool(std::string_view name) {
    return "pool '" + std::string(name) + "'";
}

} // namespace handlepool::detail
