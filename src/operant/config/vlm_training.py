"""Settings of a training run of a vision-language agent: ``operant train vlm --config FILE``.

Sections: model, prompt, sampling, environment, desktop, actor, training, inference where a model server answers, and
cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from operant.config.base import Config
from operant.config.cluster import ClusterSettings
from operant.config.desktop import DesktopConfig
from operant.config.provider import ProviderSettings
from operant.config.settings import read_yaml
from operant.config.vlm import ModelSettings, PromptSettings, SamplingSettings, ServerSettings

__all__ = [
    "ActorSettings", "EntropulseSettings", "EnvironmentSettings", "TrainingSettings", "VLMTrainingConfig",
]  # fmt: skip


class EnvironmentSettings(Config):
    """Desktops and the tasks on them."""

    suite: str = "core"
    """Where tasks come from: an installed name, module:TEMPLATES, a file of tasks, or several, separated by commas."""
    tasks: tuple[str, ...] = ()
    """Only these of them, by id; all if left out."""
    split: Literal["train"] = "train"
    """Held-out instances are for evaluation."""
    difficulty: Literal["EASY", "MEDIUM", "HARD"] | None = None
    """Only tasks of this difficulty."""
    desktops: int | None = Field(default=None, ge=1)
    """Desktops at once; as many as actors if left out."""
    ui_env_urls: tuple[str, ...] = ()
    """Addresses of ``operant desktop serve`` on other machines, such as http://10.0.0.7:8765; desktops are
    leased from them in turn. With ``actor.session_type``, addresses of UI-RL servers. Left out, desktops run on this
    machine."""
    ui_env_token_variable: str = "OPERANT_TOKEN"
    """Environment variable with those servers' token."""
    ui_env_timeout_s: float = Field(default=30.0, gt=0)
    """Seconds for one call of theirs, beyond what the call itself may take."""

    @field_validator("ui_env_urls")
    @classmethod
    def _addresses(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        for url in urls:
            if not url.startswith(("http://", "https://")):
                raise ValueError(f"{url!r} is no address: it begins with http:// or https://")
        return urls


class ActorSettings(Config):
    """Who collects experience."""

    num_actors: int = Field(default=4, ge=1)
    """Episodes that are played at once."""
    session_type: str | None = Field(default=None, min_length=1)
    """The sessions of UI-RL servers to play, which bring their own task; ``operant desktop serve --protocol ui-rl``
    is such a server."""
    task_prompt: str | None = Field(default=None, min_length=1)
    """What the agent is told to do in such a session."""
    max_steps_per_episode: int | None = Field(default=None, ge=1)
    """Instead of each task's own cap."""
    end_on_success: bool = False
    """End an episode as soon as its criteria hold, without waiting for the agent to say so."""
    success_reward: float = 1.0
    """For the last turn of a success."""
    invalid_reward: float = 0.0
    """For each answer that could not be performed; a penalty is negative."""
    max_batch: int = Field(default=16, ge=1)
    """Prompts that are answered at once, at most."""
    keep_episodes: bool = False
    """Keep every episode with its screenshots in the run's directory."""


class EntropulseSettings(Config):
    """When to learn successes of all versions again, and how."""

    window: int = Field(default=10, ge=1)
    """Updates over which reward and entropy are averaged."""
    entropy_fraction: float = Field(default=0.5, gt=0, le=1)
    """It is time when entropy is below this share of what it was."""
    min_gain: float = 0.02
    """... and the reward has not grown by so much from one window to the next."""
    cooldown: int = Field(default=20, ge=0)
    """Updates between two phases, at least."""
    per_task: int = Field(default=8, ge=1)
    """Successes of each task that are kept and learned."""
    epochs: int = Field(default=2, ge=1)
    """Passes over them."""


class TrainingSettings(Config):
    """The learner."""

    algorithm: str = "grpo"
    """rejection_sampling, ppo, grpo, reinforce, rloo or sft."""
    options: dict[str, Any] = Field(default_factory=dict)
    """The algorithm's own settings."""
    num_iterations: int = Field(default=1000, ge=0)
    """Updates."""
    group_size: int = Field(default=8, ge=1)
    """Rollouts of the same task instance."""
    groups_per_update: int = Field(default=4, ge=1)
    """Groups that one update learns from."""
    refill_limit: float = Field(default=4.0, ge=0)
    """Groups that teach nothing are replaced, up to so many times the groups of an update."""
    batch_size: int = Field(default=32, ge=1)
    """Turns of one optimiser step."""
    micro_batch: int = Field(default=8, ge=1)
    """Turns that are in memory at once."""
    learning_rate: float = Field(default=1e-5, gt=0)
    """Of the model or its adapters."""
    critic_learning_rate: float = Field(default=1e-3, gt=0)
    """Of the value head, where the algorithm has one."""
    max_grad_norm: float = Field(default=1.0, gt=0)
    """Gradients are scaled down to this."""
    target_kl: float | None = Field(default=None, gt=0)
    """End an update's passes when the policy has moved so far."""
    max_staleness: int = Field(default=1, ge=0)
    """Versions that experience may lag behind; 0 trains synchronously."""
    demonstrations: int = Field(default=0, ge=0)
    """Episodes of the tasks' oracles that are learned before anything else."""
    demonstration_epochs: int = Field(default=1, ge=1)
    """Passes over them."""
    demonstration_learning_rate: float | None = Field(default=None, gt=0)
    """While learning them, if another one."""
    entropulse: EntropulseSettings | None = None
    """Supervised phases when entropy is gone; none if left out."""
    checkpoint_every: int = Field(default=10, ge=1)
    """Updates between checkpoints."""
    keep_checkpoints: int = Field(default=3, ge=1)
    """Older ones are removed."""
    when_disk_full: Literal["stop", "go_on"] = "stop"
    """When the disk has no space for a checkpoint or an episode, the run stops, or it goes on without that file.
    Checkpoints before it stay whole. The last one of a run is never left out."""
    seed: int = Field(default=0, ge=0)
    """Decides tasks, draws and the order of examples."""
    threads: int | None = Field(default=None, ge=1)
    """CPU threads of the model libraries; their own choice if left out."""


class VLMTrainingConfig(ProviderSettings):
    """A whole run."""

    variables: ClassVar[Mapping[str, str]] = {"DEVICE": "model.device"}
    model: ModelSettings
    """What is trained; ``tiny:FAMILY`` or ``tiny:FAMILY:WIDTHxLAYERS`` makes a small one from scratch."""
    prompt: PromptSettings = PromptSettings()
    """What it is told."""
    sampling: SamplingSettings = SamplingSettings()
    """How tokens are drawn."""
    inference: ServerSettings | None = None
    """A server that answers in place of this process, and loads each version's adapters."""
    environment: EnvironmentSettings = EnvironmentSettings()
    """Desktops and tasks."""
    desktop: DesktopConfig = DesktopConfig()
    """What each desktop is like; those of ``ui_env_urls`` are as their servers make them, and of the same size."""
    actor: ActorSettings = ActorSettings()
    """Who collects experience."""
    training: TrainingSettings = TrainingSettings()
    """The learner."""
    cluster: ClusterSettings = ClusterSettings()
    """Where actors and learner run, with ``--cluster``."""

    @classmethod
    def load(cls, file: Path | None = None, *, also: Iterable[str] = (), **more: Any) -> VLMTrainingConfig:
        """As all settings are. The variable of a server's token is one that the file chooses."""
        section = (read_yaml(file) if file is not None else {}).get("environment")
        token = section.get("ui_env_token_variable") if isinstance(section, dict) else None
        return super().load(file, also=[*also, *([str(token)] if token else [])], **more)

    @model_validator(mode="before")
    @classmethod
    def _action_format(cls, values: Any) -> Any:
        """``model.action_format`` is where UI-RL's files have it."""
        model = values.get("model") if isinstance(values, dict) else None
        if isinstance(model, dict) and "action_format" in model:
            model = dict(model)
            prompt = {"action_format": model.pop("action_format"), **(values.get("prompt") or {})}
            return {**values, "model": model, "prompt": prompt}
        return values

    @model_validator(mode="after")
    def _session(self) -> VLMTrainingConfig:
        """Sessions of UI-RL servers bring their own tasks, which have no oracle."""
        if (self.actor.session_type is None) != (self.actor.task_prompt is None):
            raise ValueError("actor.session_type and actor.task_prompt go together")
        if self.actor.session_type is None:
            return self
        if not self.environment.ui_env_urls:
            raise ValueError(
                "actor.session_type is of a UI-RL server: set environment.ui_env_urls, or leave it out and choose"
                " tasks by environment.suite and environment.tasks"
            )
        for name, field in EnvironmentSettings.model_fields.items():
            if name in ("suite", "tasks", "difficulty") and getattr(self.environment, name) != field.default:
                raise ValueError(f"a UI-RL server brings its own task: leave environment.{name} out")
        if self.training.demonstrations:
            raise ValueError("a UI-RL server's task has no oracle: set training.demonstrations to 0")
        return self

    @model_validator(mode="after")
    def _check(self) -> VLMTrainingConfig:
        if self.inference is not None and not self.model.use_lora:
            raise ValueError("a model server takes adapters only: set model.use_lora")
        if self.training.algorithm in ("grpo", "rloo") and self.training.group_size < 2:
            raise ValueError(f"{self.training.algorithm} compares rollouts: set training.group_size above 1")
        if self.cluster.environment_actors > self.actor.num_actors:
            raise ValueError("an environment actor plays at least one episode: raise actor.num_actors")
        return self
