// SPDX-License-Identifier: MIT

// Handles before their objects, and objects whose handle changes.

#include "mailbox.hpp"
#include "models.hpp"
#include "pool_scene.hpp"

#include <array>
#include <cstdint>

namespace handlepool::model {
namespace {

/// One thread reserves a slot that it has used before, and tells the handle.
class told_reservation : public scene_with_an_old_object {
protected:
    void reserve() {
        objects.erase(old_);
        objects.compact();
        told_.put(objects.reserve_handle());
    }

    mailbox<handle_type> told_;
};

/// Another thread fulfills the handle as soon as it hears of it.
class fulfilled_by_another : public told_reservation {
public:
    void run(unsigned index) override {
        if (index == 0) {
            reserve();
        } else {
            const auto handle = told_.await();
            require(!objects.contains(handle), "a reserved handle does not resolve");
            require(objects.try_fulfill(handle, 7U), "a reserved handle can be fulfilled");
            require(objects.contains(handle), "a fulfilled handle resolves");
        }
    }
    void check() override {
        require(!objects.contains(old_), "a handle of a former life stays stale");
        require_consistent(objects, {{told_.look(), 7}});
    }
};

/// The same, when the other cancels it and uses the slot itself.
class cancelled_by_another : public told_reservation {
public:
    void run(unsigned index) override {
        if (index == 0) {
            reserve();
        } else {
            const auto handle = told_.await();
            require(objects.cancel(handle), "a reserved handle can be cancelled");
            next_ = objects.emplace(7U);
            require(next_ != handle && next_ != old_, "a cancelled handle is never given out again");
        }
    }
    void check() override {
        require(!objects.contains(told_.look()), "a cancelled handle stays stale");
        require_consistent(objects, {{next_, 7}});
    }

private:
    handle_type next_;
};

/// Two threads fulfill the same handle, a third cancels it.
class fulfill_against_cancel : public pool_scene<> {
public:
    fulfill_against_cancel() : pool_scene(tiny_options(1)), reserved_(objects.reserve_handle()) {}

    void run(unsigned index) override {
        if (index == 2) {
            cancelled_ = objects.cancel(reserved_);
        } else {
            fulfilled_.at(index) = objects.try_fulfill(reserved_, std::uint32_t{index + 1});
        }
    }
    void check() override {
        require((fulfilled_[0] ? 1 : 0) + (fulfilled_[1] ? 1 : 0) + (cancelled_ ? 1 : 0) == 1,
                "exactly one of fulfill and cancel wins");
        require(objects.contains(reserved_) == !cancelled_, "the winner decides");
        require(objects.stats().slots_reserved == 0,
                "a handle that was fulfilled or cancelled is not reserved");
        if (cancelled_) {
            const auto next = objects.emplace(3U);
            require(next != reserved_, "a cancelled handle is never given out again");
            require_consistent(objects, {{next, 3}});
        } else {
            require_consistent(objects, {{reserved_, fulfilled_[0] ? 1U : 2U}});
        }
    }

private:
    handle_type reserved_;
    std::array<bool, 2> fulfilled_{};
    bool cancelled_ = false;
};

/// The state of a handle is asked for while it is fulfilled; a third thread may compact.
class state_of_a_reserved_handle : public pool_scene<> {
public:
    state_of_a_reserved_handle() : pool_scene(tiny_options(1)) {
        objects.erase(objects.emplace(1U));
        objects.compact();
        reserved_ = objects.reserve_handle();
    }

    void run(unsigned index) override {
        if (index == 0) {
            objects.fulfill(reserved_, 7U);
        } else if (index == 1) {
            const handle_state first = objects.state(reserved_);
            const handle_state second = objects.state(reserved_);
            require(first != handle_state::stale && second != handle_state::stale,
                    "a handle on its way is never called stale");
            require(first == handle_state::reserved || second == handle_state::alive,
                    "no handle is reserved once it has lived");
        } else {
            objects.compact();
        }
    }
    void check() override {
        require(objects.state(reserved_) == handle_state::alive, "a fulfilled handle is alive");
        require_consistent(objects, {{reserved_, 7}});
    }

private:
    handle_type reserved_;
};

/// One thread fulfills, another looks the object up: by find, or by the state and then without a look.
template <bool ByState>
class publication_of_a_fulfilled_object : public pool_scene<> {
public:
    publication_of_a_fulfilled_object() : pool_scene(tiny_options(1)), reserved_(objects.reserve_handle()) {}

    void run(unsigned index) override {
        if (index == 0) {
            objects.fulfill(reserved_, 7U);
        } else if (!ByState) {
            if (const payload* const found = objects.find(reserved_)) {
                require(found->value == 7, "an object that is found is complete");
            }
        } else if (objects.state(reserved_) == handle_state::alive) {
            require(objects.size() == 1, "an object that is known to live is counted");
            require(objects[reserved_].value == 7, "an object that is known to live is complete");
        }
    }
    void check() override { require_consistent(objects, {{reserved_, 7}}); }

private:
    handle_type reserved_;
};

/// Erases and revokes of one handle.
class revoke_against_erase : public scene_with_an_old_object {
public:
    void run(unsigned index) override {
        if (index == 0) {
            erased_ = objects.erase(old_);
        } else {
            revoked_.at(index - 1) = objects.revoke(old_);
        }
        require(!objects.contains(old_), "a handle that was erased or revoked is stale");
    }
    void check() override {
        const auto now = revoked_[0] ? revoked_[0] : revoked_[1];
        require((erased_ ? 1 : 0) + (revoked_[0] ? 1 : 0) + (revoked_[1] ? 1 : 0) == 1,
                "exactly one of racing erases and revokes wins");
        if (now) {
            require_consistent(objects, {{now, 1}});
            require(objects.erase(now), "the object lives under its new handle");
        }
        require_consistent(objects, 0);
    }

private:
    std::array<handle_type, 2> revoked_;
    bool erased_ = false;
};

/// One thread creates, another revokes as soon as it hears of it, and uses the object without a look.
class newborn_revoked_by_another : public pool_scene<> {
public:
    newborn_revoked_by_another() : pool_scene(tiny_options(1)) {}

    void run(unsigned index) override {
        if (index == 0) {
            told_.put(objects.emplace(7U));
        } else if ((new_ = objects.revoke(told_.await()))) {
            require(objects.size() == 1, "an object that has a new handle is counted");
            require(objects[new_].value == 7, "an object that has a new handle is complete");
        }
    }
    void check() override { require_consistent(objects, {{new_ ? new_ : told_.look(), 7}}); }

private:
    mailbox<handle_type> told_;
    handle_type new_;
};

/// A newborn is revoked, and maybe erased, while a compaction comes to it; another one lies behind it.
template <bool Erased>
class newborn_revoked_during_a_drain : public pool_scene<> {
public:
    newborn_revoked_during_a_drain()
        : pool_scene(tiny_options(2)), first_(objects.emplace(1U)), last_(objects.emplace(2U)) {}

    void run(unsigned index) override {
        if (index == 0) {
            first_ = objects.revoke(objects.revoke(first_));
            require(Erased ? objects.erase(first_) : objects.contains(first_),
                    "the object lives under its new handle");
        } else {
            objects.compact();
            require(objects.handle_at(objects.items().size() - 1) == last_,
                    "a compaction takes what was created before it");
        }
    }
    void check() override {
        if constexpr (Erased) {
            require_consistent(objects, {{last_, 2}});
        } else {
            require_consistent(objects, {{first_, 1}, {last_, 2}});
        }
    }

private:
    handle_type first_, last_;
};

/// A newborn that was revoked is swept: its maker's queue is full when it is erased.
class sweep_of_a_revoked_newborn : public scene_with_an_old_object {
public:
    sweep_of_a_revoked_newborn() : scene_with_an_old_object(tiny_options(2, 1)) {}

    void run(unsigned index) override {
        if (index == 0) {
            objects.erase(old_);
            objects.erase(objects.revoke(objects.emplace(2U)));
        } else {
            objects.compact();
        }
    }
    void check() override { require_consistent(objects, 0); }
};

} // namespace

void add_reservation_models(std::vector<model_entry>& to) {
    add<fulfilled_by_another>(to, "fulfilled by another", 2,
                              "a handle is fulfilled by whoever hears of it, under its own tag");
    add<cancelled_by_another>(to, "cancelled by another", 2, "a cancelled handle never resolves");
    add<fulfill_against_cancel>(to, "fulfill against cancel", 3,
                                "exactly one of all calls with a reserved handle wins");
    add<state_of_a_reserved_handle>(to, "state of a reserved handle", 3,
                                    "a handle is reserved, then alive, and not stale between");
    add<publication_of_a_fulfilled_object<false>>(to, "publication of a fulfilled object", 2,
                                                  "find sees a complete object");
    add<publication_of_a_fulfilled_object<true>>(to, "state of a fulfilled object", 2,
                                                 "who knows that an object lives sees it complete");
    add<revoke_against_erase>(to, "revoke against erase", 3, "exactly one of racing erases and revokes wins");
    add<newborn_revoked_by_another>(to, "newborn revoked by another", 2,
                                    "who has an object's new handle sees it complete");
    add<newborn_revoked_during_a_drain<false>>(to, "newborn revoked during a drain", 2,
                                               "a revoked newborn keeps none behind it from the dense store");
    add<newborn_revoked_during_a_drain<true>>(to, "newborn revoked and erased", 2,
                                              "the same; it is destroyed once");
    add<sweep_of_a_revoked_newborn>(to, "sweep of a revoked newborn", 2, "the same, without a record");
}

} // namespace handlepool::model
