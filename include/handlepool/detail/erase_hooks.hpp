#pragma once

#include <utility>

namespace handlepool::detail {

/// What is called for each removed object just before it is destroyed, in the order in which it was added.
/// Not std::function, whose header takes longer to compile than the pool.
template <class Value, class Pointer>
class erase_hooks {
public:
    erase_hooks() = default;
    ~erase_hooks() {
        while (first_ != nullptr) {
            delete std::exchange(first_, first_->next);
        }
    }

    erase_hooks(const erase_hooks&) = delete;
    erase_hooks& operator=(const erase_hooks&) = delete;

    bool empty() const noexcept { return first_ == nullptr; }

    /// Throws std::bad_alloc, and what moving the hook throws; then nothing has changed.
    template <class Hook>
    void add(Hook hook) {
        node** last = &first_;
        while (*last != nullptr) {
            last = &(*last)->next;
        }
        *last = new node_of<Hook>(std::move(hook));
    }

    void call(Value handle, Pointer object) const {
        for (node* each = first_; each != nullptr; each = each->next) {
            each->call(handle, object);
        }
    }

private:
    struct node {
        virtual ~node() = default;
        virtual void call(Value handle, Pointer object) = 0;
        node* next = nullptr;
    };

    template <class Hook>
    struct node_of final : node {
        explicit node_of(Hook&& moved) : hook(std::move(moved)) {}
        void call(Value handle, Pointer object) override { hook(handle, object); }
        Hook hook;
    };

    node* first_ = nullptr;
};

} // namespace handlepool::detail
