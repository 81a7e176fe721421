# SPDX-License-Identifier: MIT
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.gnu import PkgConfigDeps

required_conan_version = ">=2.0"


class HandlepoolConan(ConanFile):
    name = "handlepool"
    description = "Lock-free concurrent handle pool with contiguous storage"
    license = "MIT"
    topics = ("concurrency", "lock-free", "handle", "pool", "slot-map", "game-development")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "checked": ["auto", True, False],  # contracts; auto: in Debug builds
        "with_time": [True, False],
        "with_snapshots": [True, False],
        "with_zeromq": [True, False],
        "with_service": [True, False],
        "with_properties": [True, False],
        "with_tbb": [True, False],
        "with_fmt": [True, False],
        "with_boost": [True, False],
        "with_c": [True, False],  # a shared library always
        "with_redis": [True, False],
    }
    default_options = {
        "shared": False,
        "fPIC": True,
        "checked": "auto",
        "with_time": True,
        "with_snapshots": False,
        "with_zeromq": False,
        "with_service": True,
        "with_properties": False,
        "with_tbb": False,
        "with_fmt": False,
        "with_boost": False,
        "with_c": False,
        "with_redis": False,
    }

    # The recipe stands in the source tree that it builds.
    @property
    def _root(self):
        return os.path.join(self.recipe_folder, os.pardir, os.pardir)

    # Those of the library, in the order of its CMake files.
    @property
    def _components(self):
        names = ("time", "snapshots", "redis", "zeromq", "service", "tbb", "fmt", "boost", "properties", "c")
        wanted = [name for name in names if self.options.get_safe(f"with_{name}")]
        for below, above in (("service", {"tbb", "c"}), ("snapshots", {"redis", "zeromq"}), ("time", {"snapshots"})):
            if above & set(wanted) and below not in wanted:
                wanted = [below, *wanted]
        return wanted

    @property
    def _checked(self):
        if self.options.checked == "auto":
            return self.settings.build_type == "Debug"
        return bool(self.options.checked)

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, os.pardir, os.pardir, "CMakeLists.txt"))
        self.version = re.search(r"project\(handlepool VERSION ([0-9.]+)", text).group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "tools/*", "packaging/debian/*"):
            copy(self, pattern, self._root, self.export_sources_folder)

    def config_options(self):
        if self.settings.os == "Windows":
            del self.options.fPIC

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")

    def requirements(self):
        compiled = {"service", "properties"} & set(self._components)
        if compiled or "fmt" in self._components:
            self.requires("fmt/[>=9.1 <12]")
        if compiled:
            self.requires("nlohmann_json/[>=3.11 <4]", visible=False)
        if {"boost", "properties"} & set(self._components):
            self.requires("boost/[>=1.81 <2]", visible="boost" in self._components, options={"header_only": True})
        if "snapshots" in self._components:
            self.requires("xxhash/[>=0.8 <1]", visible=False)
        if "redis" in self._components:
            self.requires("hiredis/[>=1.0 <2]")
        if "zeromq" in self._components:
            self.requires("zeromq/[>=4.3 <5]")
            self.requires("cppzmq/[>=4.8 <5]", visible=False)
        if "tbb" in self._components:
            self.requires("onetbb/[>=2021.8 <2023]", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()  # by which libzmq is found
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["HANDLEPOOL_COMPONENTS"] = ";".join(self._components)
        toolchain.cache_variables["HANDLEPOOL_CHECKED"] = "ON" if self._checked else "OFF"
        toolchain.cache_variables["HANDLEPOOL_BUILD_EXAMPLES"] = "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        # The library's own files serve users of CMake; what follows is for all others.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "handlepool")]

        suffix = "-checked" if self._checked else ""
        pools = self.cpp_info.components["handlepool"]
        pools.set_property("pkg_config_name", "handlepool" + suffix)
        pools.libs = ["handlepool" + suffix]
        pools.defines = [f"HANDLEPOOL_CHECKED={int(self._checked)}"]
        if self.settings.os in ("Linux", "FreeBSD"):
            pools.system_libs = ["pthread"]
        requires = {
            "time": ["handlepool"],
            "snapshots": ["time", "xxhash::xxhash"],
            "zeromq": ["snapshots", "zeromq::zeromq", "cppzmq::cppzmq"],
            "service": ["handlepool", "fmt::fmt", "nlohmann_json::nlohmann_json"],
            "properties": ["handlepool", "fmt::fmt", "nlohmann_json::nlohmann_json", "boost::headers"],
            "tbb": ["service", "onetbb::onetbb"],
            "fmt": ["handlepool", "fmt::fmt"],
            "boost": ["handlepool", "boost::headers"],
            "redis": ["snapshots", "hiredis::hiredis"],
            "c": ["service"] if self.options.shared else [],  # else it contains them
        }
        for name in self._components:
            component = self.cpp_info.components[name]
            component.set_property("pkg_config_name", f"handlepool_{name}{suffix}")
            component.requires = requires[name]
            component.libs = [f"handlepool_{name}{suffix}"] if name in ("time", "snapshots", "redis", "zeromq", "service", "properties", "c") else []
