// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::model {

/// A few threads that use the library, and what must hold whatever the checker lets them see. One object is
/// one execution: it is made before the threads run.
class model {
public:
    model() = default;
    model(const model&) = delete;
    model& operator=(const model&) = delete;
    virtual ~model() = default;

    /// Runs as thread number `index`, from 0.
    virtual void run(unsigned index) = 0;

    /// All threads have ended, and all that they did has happened before.
    virtual void check() {}
};

/// A model's description, by which it is found and run.
struct model_entry {
    std::string name;
    unsigned threads = 2;
    std::string shows; ///< the invariants that it checks, for people
    std::function<std::unique_ptr<model>()> make;
};

/// All models, in the order in which they are told.
std::vector<model_entry> all_models();

/// Those with these names, or all when there is none. Throws std::invalid_argument when there is no such
/// model.
std::vector<model_entry> models_named(const std::vector<std::string>& names);

template <class Model>
void add(std::vector<model_entry>& to, std::string name, unsigned threads, std::string shows) {
    to.push_back({std::move(name), threads, std::move(shows), [] { return std::make_unique<Model>(); }});
}

} // namespace handlepool::model
