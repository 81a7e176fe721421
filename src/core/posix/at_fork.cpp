// SPDX-License-Identifier: MIT
#include "../process/at_fork.hpp"

#include <pthread.h>

namespace handlepool::detail {

void at_fork(void (*before)(), void (*after)()) noexcept {
    pthread_atfork(before, after, after);
}

namespace {

struct before_main {
    before_main() {
        make_registries();
        have_forks_wait_for_names();
    }
};
[[gnu::init_priority(101)]] const before_main made;

} // namespace
} // namespace handlepool::detail
