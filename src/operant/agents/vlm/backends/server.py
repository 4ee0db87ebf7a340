"""A model behind an OpenAI-compatible server: vLLM, SGLang or another.

Newer adapters are loaded under a name of their own; requests that have begun keep the old one, which is
unloaded when the last of them has ended. Training needs a server that tells the token ids that it sampled;
without them, answers are good for evaluation only.
"""

from __future__ import annotations

import base64
import contextlib
import threading
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import openai

from operant.agents.vlm.backends.base import Backend, Weights
from operant.agents.vlm.families import family_of
from operant.agents.vlm.prompt import Picture, Prompt
from operant.agents.vlm.trajectory import Generation
from operant.config.settings import Settings, read_variable
from operant.config.vlm import PromptSettings, SamplingSettings, ServerSettings
from operant.errors import ModelServerError
from operant.types import Size

__all__ = ["AskedServer", "ServerBackend"]

CALLERS = 64
TOKEN_MARK = "token_id:"


class AskedServer(Settings):
    """A file that names a server and says how its model is to be asked."""

    server: ServerSettings
    """Where the model is."""
    prompt: PromptSettings = PromptSettings()
    """What it is told."""
    sampling: SamplingSettings = SamplingSettings()
    """How tokens are drawn."""


class ServerBackend(Backend):
    """Asks a server. With ``need_tokens``, an answer without its token ids is an error."""

    wants_directory = True

    def __init__(
        self, settings: ServerSettings, sampling: SamplingSettings | None = None, *, need_tokens: bool = False
    ) -> None:
        super().__init__()
        self.settings = settings
        self.sampling = sampling or SamplingSettings()
        self.need_tokens = need_tokens
        self.family = family_of(settings.family)
        self.units = self.family.units
        self._client = openai.OpenAI(
            base_url=settings.url,
            api_key=read_variable(settings.api_key_variable) or "none",
            timeout=settings.timeout_s,
            max_retries=settings.retries,
        )
        self._callers = ThreadPoolExecutor(CALLERS, thread_name_prefix="operant-ask")
        self._lock = threading.Lock()
        self._model = settings.model
        self._in_flight: Counter[str] = Counter()
        self._retired: set[str] = set()

    def submit(
        self, prompt: Prompt, *, seed: int = 0, temperature: float | None = None
    ) -> Future[Generation]:
        chosen = self.sampling.temperature if temperature is None else temperature
        return self._callers.submit(self._ask, prompt, seed, chosen)

    def shown(self, screen: Size) -> Size:
        side = self.settings.side
        eye = SimpleNamespace(
            patch_size=self.settings.patch,
            merge_size=1,
            size={"shortest_edge": self.settings.patch**2, "longest_edge": self.settings.max_pixels},
            crop_size={"height": side, "width": side},
        )
        if self.family.still_processor == "Idefics3Processor":
            eye.size = {}
        return self.family.shown(screen, eye, self.settings.max_pixels)

    # Asking.

    def _ask(self, prompt: Prompt, seed: int, temperature: float) -> Generation:
        with self._lock:
            model, version = self._model, self.version
            self._in_flight[model] += 1
        try:
            reply = self._client.chat.completions.create(
                model=model,
                messages=_messages(prompt),
                max_tokens=self.sampling.max_new_tokens,
                temperature=temperature,
                seed=seed % 2**31,
                logprobs=True,
                extra_body={"return_token_ids": True, "return_tokens_as_token_ids": True},
                **self._constraint(),
            )
        except openai.OpenAIError as error:
            raise self._failure(error) from error
        finally:
            self._end_of(model)
        return self._read(reply, version)

    def _constraint(self) -> dict[str, Any]:
        return {"response_format": {"type": "json_object"}} if self.settings.constrained else {}

    def _read(self, reply: Any, version: int) -> Generation:
        if not getattr(reply, "choices", None) or reply.choices[0].message is None:
            raise ModelServerError(f"{self.settings.url} gave an answer without a message")
        choice = reply.choices[0]
        drawn = (choice.logprobs.content if choice.logprobs else None) or []
        ids = getattr(choice, "token_ids", None) or [
            int(token.token.removeprefix(TOKEN_MARK)) for token in drawn if token.token.startswith(TOKEN_MARK)
        ]
        if len(ids) != len(drawn):
            ids = []
        if self.need_tokens and not ids:
            raise ModelServerError(
                f"{self.settings.url} does not tell the tokens that it sampled",
                hint="training needs a server with return_token_ids and logprobs, such as vLLM",
            )
        self.stats.requests += 1
        self.stats.batches += 1
        self.stats.tokens += len(ids)
        return Generation(
            text=choice.message.content or "",
            token_ids=tuple(ids),
            log_probs=tuple(float(token.logprob) for token in drawn) if ids else (),
            versions=(version,) * len(ids),
            finished=choice.finish_reason != "length",
        )

    def _failure(self, error: openai.OpenAIError) -> ModelServerError:
        where = self.settings.url
        if isinstance(error, openai.APITimeoutError):
            return ModelServerError(f"{where} did not answer within {self.settings.timeout_s:g} s")
        if isinstance(error, openai.APIConnectionError):
            return ModelServerError(f"{where} can't be reached", hint="is the model server up?")
        if isinstance(error, openai.AuthenticationError):
            return ModelServerError(
                f"{where} wants a key", hint=f"set the variable {self.settings.api_key_variable}"
            )
        return ModelServerError(f"{where}: {str(error)[:300]}")

    # Newer weights.

    def load(self, weights: Weights) -> None:
        """Let the server load an adapter's directory, which it has to see under the same path."""
        if weights.directory is None:
            raise ModelServerError("a model server takes newer weights as an adapter's directory")
        name = f"{self.settings.model}-operant-{weights.version}"
        body = {"lora_name": name, "lora_path": str(weights.directory.resolve())}
        self._post("load_lora_adapter", body)
        with self._lock:
            old, self._model, self.version = self._model, name, weights.version
            if old not in (self.settings.model, name):
                self._retired.add(old)
        self._unload_idle()

    def _end_of(self, model: str) -> None:
        with self._lock:
            self._in_flight[model] -= 1
        self._unload_idle()

    def _unload_idle(self) -> None:
        with self._lock:
            idle = [name for name in self._retired if not self._in_flight[name]]
            self._retired.difference_update(idle)
        for name in idle:
            with contextlib.suppress(ModelServerError):  # it only keeps some memory
                self._post("unload_lora_adapter", {"lora_name": name})

    def _post(self, path: str, body: dict[str, str]) -> None:
        try:
            self._client.post(f"/{path}", body=body, cast_to=str)
        except openai.OpenAIError as error:
            raise self._failure(error) from error

    def close(self) -> None:
        self._callers.shutdown(wait=False, cancel_futures=True)
        self._client.close()


def _messages(prompt: Prompt) -> Any:
    """The conversation in the server's words, with its pictures inside."""
    pictures = iter(prompt.images)

    def part(part: dict[str, Any]) -> dict[str, Any]:
        if part["type"] != "image":
            return part
        return {"type": "image_url", "image_url": {"url": _data_url(next(pictures))}}

    return [
        {**message, "content": [part(item) for item in message["content"]]} for message in prompt.messages
    ]


def _data_url(picture: Picture) -> str:
    from io import BytesIO

    from PIL import Image

    buffer = BytesIO()
    Image.fromarray(picture).save(buffer, "PNG", compress_level=1)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
