// SPDX-License-Identifier: MIT

// Frames as a flow graph of oneTBB: tasks and the compaction are its nodes, edges say what comes before what,
// and loops over a pool run on all threads.

#include "frame_world.hpp"

#include <handlepool/tbb/for_each.hpp>
#include <handlepool/tbb/frame_graph.hpp>

int main() {
    frame_world world;
    unsigned frame_number = 0;

    handlepool::frame_graph frame(world.pools);
    auto& fly = frame.add_task("fly", [&] {
        handlepool::for_each_with_handle(world.rockets,
                                         [&](auto self, rocket& one) { world.fly(self, one); });
    });
    auto& launch = frame.add_task("launch", [&] { world.launch(200, frame_number); });
    auto& render = frame.add_task("render", [&] { world.render(static_cast<int>(frame_number++)); });

    using tbb::flow::make_edge;
    make_edge(frame.start(), fly);
    make_edge(frame.start(), launch); // at the same time
    make_edge(fly, frame.compaction());
    make_edge(launch, frame.compaction());
    make_edge(frame.compaction(), render);
    frame.run(frame_world::frames).rethrow();
}
