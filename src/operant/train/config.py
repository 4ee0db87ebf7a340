"""The settings of a training run, and where they come from: flags over environment over file over defaults.

The file is YAML; ``config/config.yaml`` holds every default. Of the environment, ``DEVICE`` and ``LOG_LEVEL`` are read,
also from ``.env``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, Field, field_validator

from operant.agents.hierarchical.config import HierarchicalConfig
from operant.config.base import Config
from operant.config.desktop import DesktopConfig
from operant.config.learning import CurriculumConfig, PPOConfig
from operant.config.places import place
from operant.config.provider import ProviderSettings
from operant.config.settings import check_level
from operant.errors import ConfigError

__all__ = [
    "DEFAULT_FILE",
    "EnvironmentConfig",
    "RewardTermConfig",
    "RunConfig",
    "TrainConfig",
    "TrainingConfig",
]

DEFAULT_FILE = Path("config/config.yaml")


class TrainingConfig(PPOConfig):
    """How it learns, and for how long."""

    first_rollout: int | None = Field(128, ge=1)
    """Environment steps before the first update, so that a run soon shows what it learns; each of the next rollouts is
    twice as long, up to ``buffer_size``. None: all have ``buffer_size``, as they have while the critic is warmed up."""
    total_timesteps: int = Field(100_000, ge=1)
    """Environment steps of the whole run."""
    num_envs: int = Field(8, ge=1, le=512)
    """Desktops that are played on at once; as many again are made ready meanwhile."""
    seed: int = Field(0, ge=0)
    """Decides which tasks come, which actions are drawn, and the first weights."""


class RewardTermConfig(Config):
    """A part of the reward beside success."""

    model_config = ConfigDict(allow_inf_nan=False)

    use: str
    """A name (action_effect, pointer_nearer), or module:Term of your own."""
    weight: float = 1.0
    """What its score is multiplied by."""


class EnvironmentConfig(Config):
    """What it plays."""

    model_config = ConfigDict(allow_inf_nan=False)

    suite: str = "core"
    """Where tasks come from: an installed name, module:TEMPLATES, a file of tasks, or several, separated by commas. Its
    training instances are played, never the held-out ones."""
    difficulty: str | None = None
    """EASY, MEDIUM or HARD only; with stages, the one that it begins with."""
    tasks: tuple[str, ...] = ()
    """Only these of them, by id; all if left out."""
    end_on_success: bool = False
    """Whether an episode ends as soon as its task is done, without the agent saying so."""
    step_cost: float = Field(0.0, ge=0)
    """What every action costs."""
    invalid_penalty: float = Field(0.0, ge=0)
    """What an action that can't be performed costs."""
    progress: float = Field(0.0, ge=0)
    """Weight of the share of the task's criteria that hold, as a potential."""
    reward_terms: tuple[RewardTermConfig, ...] = ()
    """More terms of the reward, each logged apart from success and under the reward-hack alarm."""
    spares: int | None = Field(None, ge=1)
    """Desktops on which episodes are made ready; none: as many as are played on."""


class RunConfig(Config):
    """Where it runs and what it leaves behind."""

    device: str = "cpu"
    """cpu, cuda, cuda:1, mps, or auto. The variable DEVICE goes before the file."""
    threads: int | None = Field(None, ge=1)
    """Threads of the network; none: half of the cores."""
    save_dir: Path = Field(default_factory=lambda: place("checkpoints"))
    """Where checkpoints go; unless said, checkpoints in the data directory (OPERANT_DATA_DIR)."""
    log_dir: Path = Field(default_factory=lambda: place("logs"))
    """Where TensorBoard's files, the log and films go; unless said, logs in the data directory."""
    checkpoint_every: int = Field(10_000, ge=1)
    """Steps between checkpoints."""
    when_disk_full: Literal["stop", "go_on"] = "stop"
    """What a checkpoint does for which the disk has no space: ends the run, or is left out. Those before it stay whole. The
    last one of a run is never left out."""
    log_level: str = "INFO"
    """Least level that is logged. The variable LOG_LEVEL goes before the file."""
    visualize: bool = False
    """Whether the run can be watched on a local page, and is filmed."""
    port: int = Field(0, ge=0, le=65535)
    """Port of that page; 0 takes one that is free."""

    @field_validator("log_level")
    @classmethod
    def _known(cls, level: str) -> str:
        return check_level(level)


class TrainConfig(ProviderSettings):
    """A whole run."""

    variables: ClassVar[Mapping[str, str]] = {"DEVICE": "run.device", "LOG_LEVEL": "run.log_level"}
    training: TrainingConfig = TrainingConfig()
    curriculum: CurriculumConfig = CurriculumConfig()
    environment: EnvironmentConfig = EnvironmentConfig()
    desktop: DesktopConfig = DesktopConfig()
    """What each desktop is like."""
    run: RunConfig = Field(default_factory=RunConfig)
    agent: HierarchicalConfig | None = None
    """The agent's own settings; none: its defaults, or those of the checkpoint that it starts from."""
    kind: Literal["hierarchical"] = "hierarchical"
    """Which agent it is."""

    @classmethod
    def load(cls, file: Path | None = None, **more: Any) -> TrainConfig:
        """As all settings are; ``config/config.yaml`` is read if no file is named and it is there."""
        if file is None and DEFAULT_FILE.is_file():
            file = DEFAULT_FILE
        try:
            config = super().load(file, **more)
        except ConfigError as error:
            raise ConfigError(error.message, hint=error.hint or "see config/config.yaml") from error
        config.check()
        return config

    def check(self) -> None:
        """What no single field can know."""
        if self.training.buffer_size < self.training.num_envs:
            raise ConfigError(
                f"training.buffer_size {self.training.buffer_size} is smaller than training.num_envs "
                f"{self.training.num_envs}",
                hint="at least one step of each environment must fit: raise --rollout-steps or lower --num-envs",
            )
