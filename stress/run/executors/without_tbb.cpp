// SPDX-License-Identifier: MIT
#include "shared_executor.hpp"

#include <stdexcept>

namespace handlepool::stress {

std::shared_ptr<const executor_ref> make_tbb_executor(timeline*, std::size_t) {
    throw std::runtime_error(
        "the executor 'tbb' is not in this build, which has no oneTBB (allowed: inline, threads)");
}

} // namespace handlepool::stress
