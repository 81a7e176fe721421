# Sourced first by each script of this folder. The comment at the top of a script is its usage, which -h and --help print.

project=$(cd "$(dirname "$0")/.." && pwd)
script=$project/ci/$(basename "$0")

usage() { sed '1d; /^#/!Q; s/^# \{0,1\}//' "$script"; }

# complain MESSAGE
complain() { echo "ci/${script##*/}: $1" >&2; }

# refuse MESSAGE: the script was called wrongly.
refuse() {
    complain "$1"
    usage >&2
    exit 2
}

# refuse_arguments ARGUMENT...: those that are left, of which there should be none.
refuse_arguments() { [[ $# -eq 0 ]] || refuse "unexpected argument '$1'"; }

# require_number NAME VALUE
require_number() { [[ $2 =~ ^[1-9][0-9]*$ ]] || refuse "$1 is '$2', and must be a number from 1 on"; }

# require_compiler VALUE
require_compiler() { [[ $1 == g++ || $1 == clang++-19 ]] || refuse "COMPILER is '$1', and must be g++ or clang++-19"; }

# Tests that run whole scenarios to see what is counted or printed. Under a sanitizer the scenarios run by themselves.
tests_of_whole_scenarios='command_line.*:run_all_test.*:run_soak_test.*:stopped_pool.*:*each_scenario.*:*recorded_trace*'
tests_of_whole_scenarios+=':terminal.shows_which_of_all_scenarios_it_is:run_scenario_test.the_peak_is_not_below_*'

# step NAME: says what comes next, and when.
step() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }

case ${1:-} in
    -h | --help)
        usage
        exit 0
        ;;
esac
