"""The agent: asks a model about each screen, and does what it says.

A malformed answer is a recorded invalid step, never a crash. An answer with several actions is performed one
step at a time before the model is asked again. Each step's record holds the sampled token ids, their
log-probabilities and the version of the weights.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path

from operant.agents.base import Agent, Decision, TaskView
from operant.agents.vlm.answers import Answers, can_call
from operant.agents.vlm.backends.base import Backend
from operant.agents.vlm.prompt import Conversation, as_shown
from operant.agents.vlm.trajectory import Turn
from operant.config.vlm import ModelSettings, PromptSettings, SamplingSettings, ServerSettings
from operant.errors import InvalidAction, ModelError, NoModel
from operant.types import Action, Observation, Size

__all__ = ["VLMAgent", "load"]

ANSWER_S = 600.0
WHOLE_FILE = 64 * 2**20  # weights up to so many bytes are hashed as a whole, larger ones at both ends
EDGE = 2**20


class VLMAgent(Agent):
    """Plays episodes with a backend's model. ``turns`` are those of the episode so far, for learning."""

    def __init__(
        self,
        backend: Backend,
        prompt: PromptSettings | None = None,
        *,
        temperature: float | None = None,
        fingerprint: str = "",
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        self.backend = backend
        self.prompt = prompt or PromptSettings()
        self.temperature = temperature
        self.fingerprint = fingerprint
        if not can_call(self.prompt.action_format):
            self.cannot_call = f"the format {self.prompt.action_format} has no words for a call"
        self.turns: list[Turn] = []
        self._on_close = on_close
        self._seed = 0
        self._waiting: deque[Action] = deque()
        self._conversation: Conversation | None = None
        self._answers: Answers | None = None

    def begin(self, task: TaskView) -> None:
        format = self.prompt.action_format
        self._answers = Answers(format, self.backend.units, self.backend.shown(task.screen))
        self._conversation = Conversation(self.prompt, self.backend.units, task.instruction, task.offer)
        self._waiting.clear()
        self._seed = task.seed
        self.turns = []

    def act(self, observation: Observation) -> Decision:
        if self._answers is None or self._conversation is None:
            height, width = observation.screen.shape[:2]
            self.begin(TaskView(observation.instruction, observation.max_steps, Size(width, height)))
        assert self._answers is not None
        assert self._conversation is not None
        if self._waiting:
            return Decision((self._waiting.popleft(),), record={"continued": True})
        image = as_shown(observation.screen, self._answers.shown)
        prompt = self._conversation.prompt(image, observation)
        future = self.backend.submit(
            prompt, seed=_mixed(self._seed, observation.step), temperature=self.temperature
        )
        answer = future.result(ANSWER_S)
        self._conversation.add(image, observation, answer.text)
        record = {**answer.record(), **self._conversation.record()}
        try:
            action, *others = self._answers.parse(answer.text)
        except InvalidAction as error:
            self.turns.append(Turn(prompt, answer, valid=False))
            return Decision((), answer.text, error.message, record)
        self.turns.append(Turn(prompt, answer))
        self._waiting.extend(others)
        return Decision((action,), answer.text, record=record)

    def close(self) -> None:
        self._on_close()


def _mixed(seed: int, step: int) -> int:
    """Another number for each step of each episode."""
    digest = hashlib.blake2b(f"{seed}/{step}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


# By name: ``vlm:PATH``.


def load(path: str = "", *, device: str | None = None) -> VLMAgent:
    """The agent of a model's or an adapter's directory, or of a YAML file that names a model server.

    Agents of the same path and device share one model, which answers them in batches. A server has its own device.
    """
    if not path:
        raise NoModel("the agent vlm needs a model", hint="vlm:PATH, a directory or a server's .yaml file")
    if path.endswith((".yaml", ".yml")):
        from operant.agents.vlm.backends.server import AskedServer, ServerBackend

        asked = AskedServer.load(Path(path))
        server: ServerSettings = asked.server
        return VLMAgent(
            ServerBackend(server, asked.sampling),
            asked.prompt,
            temperature=asked.sampling.eval_temperature,
            fingerprint=f"{server.url} {server.model}",
        )
    return _SHARED.agent(path, device)


class _SharedModels:
    """Models that are loaded, with how many agents use each."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._models: dict[tuple[str, str | None], tuple[Backend, PromptSettings, SamplingSettings, str]] = {}
        self._users: dict[tuple[str, str | None], int] = {}

    def agent(self, path: str, device: str | None = None) -> VLMAgent:
        key = (str(Path(path).resolve()), device)
        with self._lock:
            if key not in self._models:
                self._models[key] = _load_directory(path, device)
            self._users[key] = self._users.get(key, 0) + 1
            backend, prompt, sampling, fingerprint = self._models[key]
        return VLMAgent(
            backend,
            prompt,
            temperature=sampling.eval_temperature,
            fingerprint=fingerprint,
            on_close=self._release(key),
        )

    def _release(self, key: tuple[str, str | None]) -> Callable[[], None]:
        released = False

        def release() -> None:
            nonlocal released
            with self._lock:
                if released:
                    return
                released = True
                self._users[key] -= 1
                if self._users[key]:
                    return
                backend = self._models.pop(key)[0]
            backend.close()

        return release


_SHARED = _SharedModels()


def _load_directory(
    path: str, device: str | None = None
) -> tuple[Backend, PromptSettings, SamplingSettings, str]:
    from operant.agents.vlm.backends.local import LocalBackend
    from operant.agents.vlm.wrapper import VLMWrapper

    about = _about(Path(path))
    prompt = PromptSettings.build(**about.get("prompt", {}))
    sampling = SamplingSettings.build(**about.get("sampling", {}))
    noted = about.get("model", {}) | ({} if device is None else {"device": device})
    settings = ModelSettings.build(name=path, use_lora=False, **noted)
    vlm = VLMWrapper(settings, prompt=prompt, sampling=sampling, trainable=False)
    return LocalBackend(vlm), prompt, sampling, _fingerprint(Path(path))


def _about(directory: Path) -> dict[str, dict[str, object]]:
    """What training noted about how the model is to be asked."""
    path = directory / "operant.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} can't be read: {error}") from error
    if not isinstance(found, dict):
        raise ModelError(f"{path} holds no settings")
    return found


def _fingerprint(directory: Path) -> str:
    """Changes when the weights or how they are asked do."""
    if not directory.is_dir():
        return str(directory)
    digest = hashlib.sha256()
    for path in sorted([*directory.glob("*.safetensors"), *directory.glob("*.json")]):
        size = path.stat().st_size
        digest.update(f"{path.name} {size}\n".encode())
        with open(path, "rb") as file:
            if size <= WHOLE_FILE:
                digest.update(file.read())
            else:
                digest.update(file.read(EDGE))
                file.seek(-EDGE, 2)
                digest.update(file.read(EDGE))
    return digest.hexdigest()[:16]
