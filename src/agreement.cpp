#include <handlepool/detail/agreement.hpp>

namespace handlepool::detail {

template <bool Exceptions>
void library_built_with_exceptions() noexcept {}
template void library_built_with_exceptions<exceptions>() noexcept;

template <bool Checked>
void library_built_with_HANDLEPOOL_CHECKED() noexcept {}
template void library_built_with_HANDLEPOOL_CHECKED<checked>() noexcept;

} // namespace handlepool::detail
