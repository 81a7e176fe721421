// SPDX-License-Identifier: MIT
#pragma once

// Relacy, the model checker by Dmitry Vyukov: all of <relacy/relacy.hpp> but its stand-ins for the systems'
// threads and the macros by which it takes over a program's words.

#include <ostream>
#include <type_traits>

namespace rl {

/// For its traces, where words are enumerations.
template <class Number>
    requires std::is_enum_v<Number>
std::ostream& operator<<(std::ostream& out, Number number) {
    return out << static_cast<std::underlying_type_t<Number>>(number);
}

} // namespace rl

#include <relacy/atomic.hpp>
#include <relacy/atomic_fence.hpp>
#include <relacy/backoff.hpp>
#include <relacy/base.hpp>
#include <relacy/context.hpp>
#include <relacy/context_base_impl.hpp>
#include <relacy/dyn_thread.hpp>
#include <relacy/stdlib/condition_variable.hpp>
#include <relacy/stdlib/event.hpp>
#include <relacy/stdlib/mutex.hpp>
#include <relacy/stdlib/semaphore.hpp>
#include <relacy/test_suite.hpp>
#include <relacy/thread_local.hpp>
#include <relacy/var.hpp>
