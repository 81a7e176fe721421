// The gate between guards and compactions.

#include "model_policy.hpp"
#include "models.hpp"

#include <handlepool/access_gate.hpp>
#include <handlepool/lane.hpp>

#include <cstdint>

namespace handlepool::model {

namespace {

/// What guards read and compactions write, without an order of its own.
struct gate_scene : model {
    gate_scene() : lanes("lanes", 3), gate(lanes, "model") {}

    void read() {
        const access_guard<model_policy> guard(gate, *lanes.mine());
        static_cast<void>(std::uint32_t{data}); // a race, if something changes under a guard
    }
    void change() { data = data + 1; }

    lane_table<model_policy> lanes;
    access_gate<model_policy> gate;
    model_plain<std::uint32_t> data;
};

/// A guard in a new lane against a compaction that does not wait.
class guard_in_a_new_lane : public gate_scene {
public:
    void run(unsigned index) override {
        if (index == 0) {
            read();
        } else if (gate.try_close()) {
            change();
            gate.open();
        }
    }
};

/// The same, when compaction knows the lane already.
class guard_in_a_known_lane : public guard_in_a_new_lane {
public:
    guard_in_a_known_lane() { lanes.mine(); }
};

/// The same, when the lane is counted already because of one behind it, which another thread enters.
class guard_in_a_counted_lane : public gate_scene {
public:
    void run(unsigned index) override {
        if (index == 0) {
            read();
        } else if (index == 1) {
            lanes.mine();
        } else if (gate.try_close()) {
            change();
            gate.open();
        }
    }
};

/// A guard, and a compaction that waits for it.
class waiting_compaction : public gate_scene {
public:
    void run(unsigned index) override {
        if (index == 0) {
            read();
        } else {
            gate.close();
            change();
            gate.open();
        }
    }
    void check() override { require(data == 1, "the compaction has run"); }
};

/// A guard inside a guard, while a compaction waits for the outer one.
class nested_guard : public gate_scene {
public:
    void run(unsigned index) override {
        if (index == 0) {
            const access_guard<model_policy> outer(gate, *lanes.mine());
            read();
            const std::uint32_t before = data;
            model_policy::wait(); // where others may come in between
            require(data == before, "the outer guard holds compaction off when the inner one has ended");
        } else {
            gate.close();
            change();
            gate.open();
        }
    }
};

/// A guard of a thread that has compacted, while another does.
class guard_behind_a_compaction : public gate_scene {
public:
    void run(unsigned index) override {
        if (gate.try_close()) {
            change();
            gate.open();
        }
        if (index == 0) {
            read(); // is refused to who is compacting, by an exception
        }
    }
};

/// Three that want to compact, and may be refused.
class racing_compactions : public gate_scene {
public:
    void run(unsigned) override {
        if (gate.try_close()) {
            change();
            gate.open();
        }
    }
    void check() override { require(data >= 1, "one of racing compactions runs"); }
};

} // namespace

void add_gate_models(std::vector<model_entry>& to) {
    to.push_back(entry<guard_in_a_new_lane>("guard in a new lane", 2,
                                            "no object moves under a guard, also in a lane that is new"));
    to.push_back(entry<guard_in_a_known_lane>("guard in a known lane", 2, "no object moves under a guard"));
    to.push_back(entry<guard_in_a_counted_lane>("guard in a counted lane", 3,
                                                "the same, when a lane behind it was entered before"));
    to.push_back(entry<waiting_compaction>("waiting compaction", 2,
                                           "no object moves under a guard; the compaction gets its turn"));
    to.push_back(entry<nested_guard>(
        "nested guard", 2, "a guard inside a guard does not wait for the compaction that waits for it"));
    to.push_back(entry<guard_behind_a_compaction>("guard behind a compaction", 2,
                                                  "only who is compacting is refused a guard"));
    to.push_back(
        entry<racing_compactions>("racing compactions", 3, "one compaction at a time; not all are refused"));
}

} // namespace handlepool::model
