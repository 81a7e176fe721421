#include "checked_pool.hpp"

namespace handlepool::stress {

void checked_pool::check_all(std::size_t expected_alive, tally& all) {
    pool_.compact();
    const pool_stats stats = pool_.stats();
    const auto require_equal = [&all](const char* what, std::uint64_t found, std::uint64_t expected) {
        if (found != expected) {
            all.violate(fmt::format("{} is {}, expected {}", what, found, expected));
        }
    };
    require_equal("the number of living objects", stats.alive, expected_alive);
    require_equal("the number created", stats.created, all.created);
    require_equal("the number destroyed", stats.destroyed, all.erased);
    require_equal("the number destroyed and alive together", stats.destroyed + stats.alive, stats.created);
    require_equal("the size of the dense store", stats.dense, stats.alive);
    require_equal("the number of newborns after a compaction", stats.newborn, 0);
    require_equal("the number of slots in service", stats.slots_in_service,
                  stats.alive + stats.slots_free + stats.slots_claimed + stats.slots_retired);

    for (std::size_t position = 0; position < pool_.items().size(); ++position) {
        const payload& object = pool_.items()[position];
        const handle_type handle = pool_.handle_at(position);
        if (pool_.find(handle) != &object) {
            all.violate(fmt::format("position {} and its handle {} disagree", position, handle));
        } else if (!object.is(object.id())) {
            ++all.content_mismatches;
            all.violate(fmt::format("the object at position {}, handle {}, is torn", position, handle));
        }
    }
}

} // namespace handlepool::stress
