// SPDX-License-Identifier: MIT

// Where that lies which tests read and run. Not one of these is in a command line of the compiler: so ccache
// finds what it kept of the same sources in any folder.

#pragma once

namespace handlepool::support::paths {

// Each is defined in the programs whose CMakeLists.txt says so by define_path.

/// The sources' top folder.
extern const char* const sources;

// Programs and libraries that tests start, load or record.
extern const char* const asteroids_program;
extern const char* const coherence_program;
extern const char* const failing_stress_program;
extern const char* const failover_program;
extern const char* const inspect_example;
extern const char* const inspect_program;
extern const char* const journal_program;
extern const char* const late_session;
extern const char* const loaded_first_fixture;
/// The begins of the names of modules' files: with debug information ".so", the same without "_stripped.so"
/// and, with a link to ".debug", "_linked.so".
extern const char* const named_module;
extern const char* const named_module_without_id;
extern const char* const own_allocator_fixture;
extern const char* const peers_program;
extern const char* const plain_fixture;
extern const char* const record_fixture;
extern const char* const record_library;
extern const char* const redis_guide_program;
/// Empty where nothing can be linked statically.
extern const char* const static_record_fixture;
extern const char* const stress_program;
/// The begin of the names of several.
extern const char* const typed_programs;

} // namespace handlepool::support::paths
