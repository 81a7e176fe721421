#include <handlepool/contract.hpp>

#include <cstdio>
#include <cstdlib>

namespace handlepool {

void contract_violated(std::string_view pool, std::string_view message) noexcept {
    std::fprintf(stderr, "handlepool: pool '%.*s': %.*s\n", static_cast<int>(pool.size()), pool.data(),
                 static_cast<int>(message.size()), message.data());
    std::abort();
}

template <bool Checked>
void library_built_with_HANDLEPOOL_CHECKED() noexcept {}
template void library_built_with_HANDLEPOOL_CHECKED<checked>() noexcept;

} // namespace handlepool
