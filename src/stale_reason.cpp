#include <handlepool/error.hpp>
#include <handlepool/stale_reason.hpp>

namespace handlepool {

namespace {

std::string reason(const refused_handle& handle) {
    if (handle.pool_id != handle.own_pool_id) {
        return "it belongs to another pool; this one has pool id " + std::to_string(handle.own_pool_id);
    }
    if (handle.generation <= handle.first_generation) {
        return "its object was forgotten by a reset, or lived in a former pool with this id";
    }
    if (handle.index >= handle.slots_in_service) {
        return "no such slot was ever used; there are " + std::to_string(handle.slots_in_service);
    }
    if (handle.generation % 2 == 0) {
        return "no object ever had this generation; an object's is odd";
    }
    if (handle.generation > handle.slot_generation) {
        return "no object had this generation yet; the slot is at " + std::to_string(handle.slot_generation);
    }
    if (handle.slot_generation == handle.generation + 1) {
        return "its object was erased";
    }
    return "its object was erased, and the slot has been used again since; it is at generation " +
           std::to_string(handle.slot_generation);
}

} // namespace

std::string describe_refusal(std::string_view pool, const refused_handle& handle) {
    if (handle.null) {
        return quoted_pool(pool) + ": the null handle names no object";
    }
    return quoted_pool(pool) + ": handle #" + std::to_string(handle.index) + " generation " +
           std::to_string(handle.generation) + " pool " + std::to_string(handle.pool_id) +
           " is stale: " + reason(handle);
}

} // namespace handlepool
