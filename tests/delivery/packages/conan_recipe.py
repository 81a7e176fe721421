#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: tests/delivery/packages/conan_recipe.py FOLDER [OPTION=VALUE...]

Runs the steps of packaging/conan/conanfile.py, and of its test package, in FOLDER: exports the sources, configures, builds,
packages, and builds and runs a program with the package. Where Conan is not to be had, this stands in for it: the recipe is
Conan's, what it calls is simple code below, and its requirements are packages of the machine.

examples:
  tests/delivery/packages/conan_recipe.py build/recipe
  tests/delivery/packages/conan_recipe.py build/recipe shared=True build_type=Debug
"""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import types

RECIPES = pathlib.Path(__file__).resolve().parents[3] / "packaging" / "conan"


class Values:
    """Options or settings. As in Conan, names that are not declared are errors."""

    def __init__(self, values):
        self.__dict__.update(values)

    def get_safe(self, name):
        return getattr(self, name, None)

    def rm_safe(self, name):
        self.__dict__.pop(name, None)


class CppInfo:
    """What package_info() says, of the package or of one component."""

    def __init__(self):
        self.properties, self.libs, self.defines, self.requires, self.system_libs, self.builddirs = {}, [], [], [], [], []
        self.components = Components()

    def set_property(self, name, value):
        self.properties[name] = value


class Components(dict):
    def __missing__(self, name):
        return self.setdefault(name, CppInfo())


class ConanFile:
    def requires(self, reference, **_):
        self.required.append(reference)

    def run(self, command, **_):
        subprocess.run(command, shell=True, check=True)


class CMakeToolchain:
    def __init__(self, recipe):
        self.recipe, self.cache_variables = recipe, {}

    def generate(self):
        self.recipe.cache_variables = self.cache_variables


class CMake:
    def __init__(self, recipe):
        self.recipe = recipe

    def configure(self):
        recipe = self.recipe
        variables = {"CMAKE_BUILD_TYPE": recipe.settings.build_type, "CMAKE_INSTALL_PREFIX": recipe.package_folder,
                     "BUILD_SHARED_LIBS": "ON" if recipe.options.get_safe("shared") else "OFF",
                     "CMAKE_INSTALL_LIBDIR": "lib", **recipe.cache_variables}
        self.run("--no-warn-unused-cli", "-G", "Ninja", "-S", recipe.source_folder, "-B", recipe.build_folder,
                 *(f"-D{name}={value}" for name, value in variables.items()))

    def build(self):
        self.run("--build", self.recipe.build_folder)

    def install(self):
        self.run("--install", self.recipe.build_folder)

    @staticmethod
    def run(*arguments):
        subprocess.run(["cmake", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def copy(_, pattern, source, target):
    source = pathlib.Path(source).resolve()
    for file in source.glob(pattern + "/**/*" if (source / pattern).is_dir() else pattern):
        for each in (file.rglob("*") if file.is_dir() else [file]):
            if each.is_file():
                place = pathlib.Path(target) / each.relative_to(source)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(each, place)


def load_recipe(file):
    modules = {
        "conan": {"ConanFile": ConanFile},
        "conan.tools": {},
        "conan.tools.build": {"check_min_cppstd": lambda *_: None, "can_run": lambda _: True},
        "conan.tools.cmake": {"CMake": CMake, "CMakeToolchain": CMakeToolchain, "cmake_layout": lambda _: None,
                              "CMakeDeps": lambda _: types.SimpleNamespace(generate=lambda: None)},
        "conan.tools.gnu": {"PkgConfigDeps": lambda _: types.SimpleNamespace(generate=lambda: None)},
        "conan.tools.files": {"copy": copy, "load": lambda _, name: pathlib.Path(name).read_text()},
    }
    for name, content in modules.items():
        module = types.ModuleType(name)
        module.__dict__.update(content)
        sys.modules[name] = module
    specification = importlib.util.spec_from_file_location("recipe_" + str(len(file.parts)), file)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return next(each for each in vars(module).values()
                if isinstance(each, type) and issubclass(each, ConanFile) and each is not ConanFile)


def make(file, work, settings):
    recipe = load_recipe(file)()
    recipe.recipe_folder, recipe.required, recipe.cache_variables = str(file.parent), [], {}
    recipe.settings = Values(settings)
    recipe.build_folder, recipe.package_folder = work / "build", work / "package"
    return recipe


def build_package(work, settings, options):
    recipe = make(RECIPES / "conanfile.py", work, settings)
    allowed = type(recipe).options
    for name, value in options.items():
        if value not in allowed.get(name, ()):
            sys.exit(f"the recipe has no option {name}={value}; it has {allowed}")
    recipe.options = Values(type(recipe).default_options | options)
    recipe.export_sources_folder = recipe.source_folder = work / "source"
    for step in ("set_version", "export_sources", "config_options", "configure", "requirements", "validate", "layout",
                 "generate", "build", "package"):
        getattr(recipe, step)()
    recipe.cpp_info = CppInfo()
    recipe.package_info()
    return recipe


def check(recipe):
    """What package_info() promises is there."""
    folder = pathlib.Path(recipe.package_folder)
    names = {name: info for name, info in recipe.cpp_info.components.items()}
    required = {reference.split("/")[0] for reference in recipe.required}
    for name, info in names.items():
        for library in info.libs:
            if not list((folder / "lib").glob(f"lib{library}.*")):
                sys.exit(f"component {name}: there is no library {library}")
        if not (folder / "lib" / "pkgconfig" / (info.properties["pkg_config_name"] + ".pc")).is_file():
            sys.exit(f"component {name}: the library has another name for pkg-config")
        for each in info.requires:
            if each.split("::")[0] not in (required if "::" in each else names):
                sys.exit(f"component {name} requires {each}, which the recipe does not")
    for place in [*recipe.cpp_info.builddirs, "licenses/LICENSE"]:
        if not (folder / place).exists():
            sys.exit(f"the package has no {place}")


def test_package(package, work, settings):
    test = make(RECIPES / "test_package" / "conanfile.py", work, settings)
    test.tested_reference_str = f"{package.name}/{package.version}"
    test.requirements()
    test.options = Values({})
    test.source_folder = RECIPES / "test_package"
    test.cache_variables = {"CMAKE_PREFIX_PATH": package.package_folder}
    test.cpp = types.SimpleNamespace(build=types.SimpleNamespace(bindir=str(test.build_folder)))
    os.environ["LD_LIBRARY_PATH"] = str(package.package_folder / "lib")
    test.build()
    test.test()


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if len(sys.argv) > 1 else 2
    work = pathlib.Path(sys.argv[1]).resolve()
    shutil.rmtree(work, ignore_errors=True)
    options = dict(each.split("=", 1) for each in sys.argv[2:])
    settings = {"os": "Linux", "arch": "x86_64", "compiler": "gcc", "build_type": options.pop("build_type", "Release")}
    options = {name: {"True": True, "False": False}.get(value, value) for name, value in options.items()}
    package = build_package(work, settings, options)
    check(package)
    test_package(package, work / "test", settings)
    return 0


if __name__ == "__main__":
    sys.exit(main())
