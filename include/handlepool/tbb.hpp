// SPDX-License-Identifier: MIT
#pragma once

/// oneTBB runs the frame. Target handlepool::tbb; nothing else in the library names oneTBB.

#include <handlepool/tbb/compaction_node.hpp> // a node of a flow graph that compacts
#include <handlepool/tbb/executor.hpp>        // compaction on oneTBB's threads
#include <handlepool/tbb/for_each.hpp>        // parallel loops over a pool's objects
#include <handlepool/tbb/frame_graph.hpp>     // frames, one after the other
