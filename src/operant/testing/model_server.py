"""A small OpenAI-compatible server around a model in this process, as vLLM's looks from outside.

For tests of clients of model servers, and for trying one without a GPU. Serves chat completions with
pictures, token ids and log-probabilities, and loads adapters by directory. No streaming, no keys unless told.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from operant.errors import OperantError

if TYPE_CHECKING:
    from operant.agents.vlm.backends.local import LocalBackend
    from operant.agents.vlm.prompt import Prompt

__all__ = ["ModelServer"]

ANSWER_S = 120.0


class ModelServer:
    """Serves a backend under ``url`` until it is closed. Use it as a context manager."""

    def __init__(
        self, backend: LocalBackend, model: str = "tiny", *, key: str | None = None, tokens: bool = True
    ) -> None:
        self.backend = backend
        self.model = model
        self.key = key
        self.tokens = tokens
        """Whether it tells the token ids; some servers don't."""
        self.asked: list[str] = []
        """The name of the model in each request."""
        self.adapters: dict[str, str] = {}
        self._lock = threading.Lock()
        self._loaded = ""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, name="model-server", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self.backend.close()

    def __enter__(self) -> ModelServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What it can do.

    def post(self, path: str, body: Mapping[str, Any]) -> tuple[int, Any]:
        match path:
            case "/v1/chat/completions":
                return self._complete(body)
            case "/v1/load_lora_adapter":
                return self._load(body)
            case "/v1/unload_lora_adapter":
                self.adapters.pop(str(body["lora_name"]), None)
                return 200, "unloaded"
        return 404, {"error": {"message": f"there is no {path}"}}

    def _load(self, body: Mapping[str, Any]) -> tuple[int, Any]:
        name, path = str(body["lora_name"]), str(body["lora_path"])
        if not (Path(path) / "adapter_config.json").is_file():
            return 404, {"error": {"message": f"no adapter found for {path}"}}
        self.adapters[name] = path
        return 200, f"Success: {name} added"

    def _complete(self, body: Mapping[str, Any]) -> tuple[int, Any]:
        from operant.agents.vlm.backends.base import Weights

        name = str(body["model"])
        if name != self.model and name not in self.adapters:
            return 404, {"error": {"message": f"the model {name} does not exist"}}
        with self._lock:
            self.asked.append(name)
            if name in self.adapters and name != self._loaded:
                self.backend.load(Weights(len(self.asked), directory=Path(self.adapters[name])))
                self._loaded = name
            future = self.backend.submit(
                _prompt(body["messages"]),
                seed=int(body.get("seed") or 0),
                temperature=body.get("temperature"),
            )
        answer = future.result(ANSWER_S)
        ids = answer.token_ids
        choice: dict[str, Any] = {
            "index": 0,
            "message": {"role": "assistant", "content": answer.text},
            "finish_reason": "stop" if answer.finished else "length",
            "logprobs": {
                "content": [
                    {
                        "token": f"token_id:{token}" if self.tokens else "?",
                        "logprob": value,
                        "top_logprobs": [],
                    }
                    for token, value in zip(ids, answer.log_probs, strict=True)
                ]
            },
        }
        if self.tokens and body.get("return_token_ids"):
            choice["token_ids"] = list(ids)
        reply = {"id": "1", "object": "chat.completion", "created": 0, "model": name, "choices": [choice]}
        return 200, reply


def _prompt(messages: list[Mapping[str, Any]]) -> Prompt:
    from operant.agents.vlm.prompt import IMAGE, Prompt

    images = []
    taken: list[dict[str, Any]] = []
    for message in messages:
        content: list[dict[str, Any]] = []
        for part in message["content"]:
            if part["type"] == "image_url":
                data = part["image_url"]["url"].partition("base64,")[2]
                with Image.open(BytesIO(base64.b64decode(data))) as image:
                    images.append(np.asarray(image.convert("RGB")))
                content.append(IMAGE)
            else:
                content.append(dict(part))
        taken.append({"role": message["role"], "content": content})
    return Prompt(tuple(taken), tuple(images))


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            names = [server.model, *server.adapters]
            self._reply(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in names]})

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if server.key is not None and self.headers.get("Authorization") != f"Bearer {server.key}":
                self._reply(401, {"error": {"message": "wrong key"}})
                return
            try:
                status, reply = server.post(self.path, json.loads(data))
            except (KeyError, ValueError, TypeError) as error:
                status, reply = 400, {"error": {"message": f"{type(error).__name__}: {error}"}}
            except OperantError as error:
                status, reply = 500, {"error": {"message": error.message}}
            self._reply(status, reply)

        def _reply(self, status: int, reply: Any) -> None:
            data = (reply if isinstance(reply, str) else json.dumps(reply)).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/plain" if isinstance(reply, str) else "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass  # tests need no access log

    return Handler
