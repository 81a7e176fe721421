#pragma once

#include <handlepool/fifo_freelist.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/policy.hpp>

namespace handlepool::detail {

/// What the parts of a pool are made with.
template <class Layout = default_layout, class Policy = default_policy,
          template <class> class Freelist = fifo_freelist>
struct pool_config {
    using layout = Layout;
    using policy = Policy;
    using freelist = Freelist<Policy>;
};

} // namespace handlepool::detail
