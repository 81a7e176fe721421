#include <handlepool/service.hpp>

namespace handlepool {

template class basic_service<default_layout>;

} // namespace handlepool
