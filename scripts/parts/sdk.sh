#!/usr/bin/env bash
# PyPI's cowboy-sdk, for the actor on its page. That actor asks a language model, so it needs that part, too.
. "$(dirname "$0")/../part.sh"

VERSION=0.1.1

fill() {
    local folder=$1
    need python3 python3
    python3 -m venv "$folder/python" >&2 ||
        give_up "python3 makes no environment (Debian: python3-venv)"
    fetch "$folder/python/bin/python" -m pip --disable-pip-version-check --no-input install --quiet --no-deps \
        --target "$folder/package" "cowboy-sdk==$VERSION" || give_up "PyPI's cowboy-sdk $VERSION cannot be had"
    rm -rf "$folder/python"
    sed '1,/^$/d' "$folder/package/cowboy_sdk-$VERSION.dist-info/METADATA" >"$folder/page.md"
}

works() { grep -q '^```python$' "$1/page.md"; }

"$(dirname "$0")/llm.sh" || exit
install_part sdk "$VERSION"
