#!/usr/bin/env bash
# Times the first runs of tests on a GPU, with an empty cache of kernels and an empty configuration folder, and the
# second runs. A run is a whole process with 1,000 squarings.
# Each test is run twice: by the program as it is, and by a copy that does not know the model of the GPU, so that its
# tables of times do not apply.
#
# Usage: benches/first-run.sh PROGRAM [CORES]
#   PROGRAM  the program warpint, such as target/release/warpint
#   CORES    the CPU cores that the runs may use, as for `taskset -c` [default: all]
set -euo pipefail
program=$(realpath "$1")
cores=${2:-0-$(($(nproc) - 1))}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

model=$(nvidia-smi --query-gpu=name --format=csv,noheader --id=0)
unknown=$folder/warpint
python3 - "$program" "$unknown" "$model" <<'PYTHON'
import sys
program, unknown, model = sys.argv[1:]
other = model[:-2] + "??"
with open(program, "rb") as file:
    code = file.read().replace(model.encode(), other.encode())
with open(unknown, "wb") as file:
    file.write(code)
PYTHON
chmod +x "$unknown"

# Prints the time of a command in an empty folder, in seconds.
seconds() {
    rm -rf "$folder/work"
    mkdir "$folder/work"
    local begin end
    begin=$(date +%s%N)
    (cd "$folder/work" && taskset -c "$cores" "$@" >"$folder/said" 2>&1)
    end=$(date +%s%N)
    awk -v t=$((end - begin)) 'BEGIN { printf "%.2f", t / 1e9 }'
}

echo "$model, CPU cores $cores, $("$program" --version)"
printf '%-28s %-8s %9s %9s %8s\n' 'test, 1,000 squarings' model 'first, s' 'second, s' kernels
for test in 'prp 82589933' 'prp 136279841' 'prp 332220523' 'll 82589933' 'test 3*2^20000000+1'; do
    read -ra words <<<"$test"
    for known in known unknown; do
        warpint=$program
        [[ $known == known ]] || warpint=$unknown
        export WARPINT_CACHE_DIR=$folder/cache WARPINT_CONFIG_DIR=$folder/config
        rm -rf "$WARPINT_CACHE_DIR" "$WARPINT_CONFIG_DIR"
        first=$(seconds "$warpint" "${words[@]}" --device cuda --iterations 1000)
        kernels=$(find "$WARPINT_CACHE_DIR" -name '*.cubin' | wc -l)
        second=$(seconds "$warpint" "${words[@]}" --device cuda --iterations 1000)
        printf '%-28s %-8s %9s %9s %8s\n' "$test" "$known" "$first" "$second" "$kernels"
    done
done
