# Shared by what is in scripts/ and by .ci/run: sourced, never run.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
venv="$root/.venv"
python="$venv/bin/python"

say() { printf '%s\n' "$*" >&2; }

# Print the first Python >= 3.11 that can make a virtual environment; $PYTHON goes first.
find_python() {
    local candidate
    for candidate in "${PYTHON:-}" python3 python python3.14 python3.13 python3.12 python3.11; do
        [ -n "$candidate" ] || continue
        # Run it: a name on the path may be a launcher with nothing behind it.
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
            >/dev/null 2>&1; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    say "trustream needs Python 3.11 or newer with venv and pip; none was found."
    say "Install one, or name it: PYTHON=/path/to/python $0"
    return 1
}

# Fingerprint of what an install depends on: the project file and where the tree stands.
fingerprint() {
    "$python" - "$root" <<'PY'
import hashlib, pathlib, sys
root = pathlib.Path(sys.argv[1])
print(hashlib.sha256(str(root).encode() + b"\0" + (root / "pyproject.toml").read_bytes()).hexdigest())
PY
}

# waiting COMMAND...: run it; on a terminal, count the seconds meanwhile.
waiting() {
    if ! [ -t 2 ]; then "$@"; return; fi
    "$@" &
    local job=$! start=$SECONDS
    trap 'kill "$job" 2>/dev/null; exit 130' INT TERM
    while kill -0 "$job" 2>/dev/null; do
        printf '\r  %d s' $((SECONDS - start)) >&2
        sleep 1
    done
    printf '\r%12s\r' "" >&2
    trap - INT TERM
    wait "$job"
}

# ensure EXTRA: .venv exists and holds trustream[EXTRA], editable ("" for no extra).
ensure() {
    local extra="$1" stamp="$venv/.installed-${1:-runtime}" target="$root" base
    # Two commands started together must not install over each other.
    exec 9<"$root/scripts/lib.sh"
    if command -v flock >/dev/null 2>&1; then flock 9; fi
    if ! [ -f "$stamp" ] || [ "$(cat "$stamp")" != "$(fingerprint)" ]; then
        if ! "$python" -m pip --version >/dev/null 2>&1; then
            base="$(find_python)"
            say "Making .venv with $("$base" --version)"
            "$base" -m venv --clear "$venv"
        fi
        if [ -n "$extra" ]; then target="$root[$extra]"; fi
        say "Installing trustream${extra:+[$extra]} into .venv (a minute or two, once)"
        waiting "$python" -m pip install -qq --disable-pip-version-check --editable "$target"
        fingerprint >"$stamp"
    fi
    exec 9<&-
}
