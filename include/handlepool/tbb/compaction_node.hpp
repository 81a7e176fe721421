// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/tbb/executor.hpp>

#include <tbb/flow_graph.h>

#include <utility>

namespace handlepool {

/// The per-frame task as a node of a flow graph: when all its predecessors are done, it compacts a service or
/// a pool on the graph's threads, and then starts its successors.
///
///     tbb::flow::make_edge(simulate, compaction);
///     tbb::flow::make_edge(compaction, render);
///
/// Errors of the compaction come out of the graph's wait_for_all. A graph that was cancelled must be reset
/// before its next frame: its nodes may have received some of their messages, and would run too early.
class compaction_node : public tbb::flow::continue_node<tbb::flow::continue_msg> {
    using base = tbb::flow::continue_node<tbb::flow::continue_msg>;

public:
    /// The pool or service must outlive the node.
    template <class Compactable>
    compaction_node(tbb::flow::graph& graph, Compactable& owner)
        : compaction_node(graph, owner, [](const auto&) {}) {}

    /// Calls `done(stats)` after each compaction, with what its compact() returned.
    template <class Compactable, class Done>
    compaction_node(tbb::flow::graph& graph, Compactable& owner, Done done)
        : base(graph, [&owner, done = std::move(done)](const tbb::flow::continue_msg&) {
              tbb_executor executor;
              done(owner.compact(executor));
          }) {}
};

} // namespace handlepool
