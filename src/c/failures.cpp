// SPDX-License-Identifier: MIT
#include "failures.hpp"

#include <handlepool/detail/text/text.hpp>
#include <handlepool/error.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <new>
#include <span>
#include <stdexcept>

namespace handlepool::c {

namespace {

// No object with a destructor: threads fail until their very end.
constinit thread_local std::array<char, 512> last_message{};

} // namespace

handlepool_error fail(handlepool_error error, const char* message) noexcept {
    last_message[detail::copy_printable(message, std::span(last_message).first(last_message.size() - 1))] =
        '\0';
    return error;
}

handlepool_error fail_null(const char* function, const char* argument) noexcept {
    std::snprintf(last_message.data(), last_message.size(), "%s: %s is NULL", function, argument);
    return HANDLEPOOL_ERROR_INVALID_ARGUMENT;
}

handlepool_error fail_by_exception() noexcept {
    // Derived classes come before their bases.
    try {
        throw;
    } catch (const abandoned& error) {
        return fail(HANDLEPOOL_ERROR_ABANDONED, error.what());
    } catch (const pool_used_up& error) {
        return fail(HANDLEPOOL_ERROR_USED_UP, error.what());
    } catch (const pool_exhausted& error) {
        return fail(HANDLEPOOL_ERROR_EXHAUSTED, error.what());
    } catch (const reservation_failed& error) {
        return fail(HANDLEPOOL_ERROR_OUT_OF_MEMORY, error.what());
    } catch (const std::bad_alloc&) {
        return fail(HANDLEPOOL_ERROR_OUT_OF_MEMORY, "the system has no memory");
    } catch (const too_many_threads& error) {
        return fail(HANDLEPOOL_ERROR_TOO_MANY_THREADS, error.what());
    } catch (const stale_handle& error) {
        return fail(HANDLEPOOL_ERROR_STALE, error.what());
    } catch (const std::out_of_range& error) {
        return fail(HANDLEPOOL_ERROR_OUT_OF_RANGE, error.what());
    } catch (const not_reserved& error) {
        return fail(HANDLEPOOL_ERROR_NOT_RESERVED, error.what());
    } catch (const compaction_conflict& error) {
        return fail(HANDLEPOOL_ERROR_CONFLICT, error.what());
    } catch (const std::invalid_argument& error) {
        return fail(HANDLEPOOL_ERROR_INVALID_ARGUMENT, error.what());
    } catch (const std::exception& error) {
        return fail(HANDLEPOOL_ERROR_OTHER, error.what());
    } catch (...) {
        return fail(HANDLEPOOL_ERROR_OTHER, "an exception without a message");
    }
}

} // namespace handlepool::c

extern "C" {

const char* handlepool_last_error(void) {
    return handlepool::c::last_message.data();
}

const char* handlepool_error_name(handlepool_error error) {
    static constexpr std::array names = {"HANDLEPOOL_OK",
                                         "HANDLEPOOL_ERROR_INVALID_ARGUMENT",
                                         "HANDLEPOOL_ERROR_STALE",
                                         "HANDLEPOOL_ERROR_NOT_RESERVED",
                                         "HANDLEPOOL_ERROR_EXHAUSTED",
                                         "HANDLEPOOL_ERROR_USED_UP",
                                         "HANDLEPOOL_ERROR_OUT_OF_MEMORY",
                                         "HANDLEPOOL_ERROR_TOO_MANY_THREADS",
                                         "HANDLEPOOL_ERROR_CONFLICT",
                                         "HANDLEPOOL_ERROR_OUT_OF_RANGE",
                                         "HANDLEPOOL_ERROR_ABANDONED",
                                         "HANDLEPOOL_ERROR_OTHER"};
    static_assert(names.size() == HANDLEPOOL_ERROR_OTHER + 1);
    const auto number = static_cast<std::size_t>(error);
    return number < names.size() ? names[number] : nullptr;
}

} // extern "C"
