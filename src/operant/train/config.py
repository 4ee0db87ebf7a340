"""The settings of a training run, and where they come from: flags over environment over file over defaults.

The file is YAML; ``config/config.yaml`` holds every default. Of the environment, ``DEVICE`` and ``LOG_LEVEL`` are read,
also from ``.env``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import ConfigDict, Field, field_validator

from operant.agents.hierarchical.config import HierarchicalConfig
from operant.config.base import Config
from operant.config.desktop import DesktopConfig
from operant.config.environment import check_level, environment
from operant.config.learning import CurriculumConfig, PPOConfig
from operant.config.yaml_file import overlaid
from operant.errors import ConfigError

__all__ = [
    "DEFAULT_FILE",
    "EnvironmentConfig",
    "RewardTermConfig",
    "RunConfig",
    "TrainConfig",
    "TrainingConfig",
    "load_config",
]

DEFAULT_FILE = Path("config/config.yaml")
#: variable -> the setting that it stands for
VARIABLES = {"DEVICE": "run.device", "LOG_LEVEL": "run.log_level"}


class TrainingConfig(PPOConfig):
    """How it learns, and for how long."""

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
    """The suite that tasks are taken from; of its training instances, never of the held-out ones."""
    difficulty: str | None = None
    """EASY, MEDIUM or HARD only; with stages, the one that it begins with."""
    tasks: tuple[str, ...] = ()
    """Ids of templates, to play only these."""
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
    save_dir: Path = Path("checkpoints")
    """Where checkpoints go."""
    log_dir: Path = Path("logs")
    """Where TensorBoard's files, the log and films go."""
    checkpoint_every: int = Field(10_000, ge=1)
    """Steps between checkpoints."""
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


class TrainConfig(Config):
    """A whole run."""

    training: TrainingConfig = TrainingConfig()
    curriculum: CurriculumConfig = CurriculumConfig()
    environment: EnvironmentConfig = EnvironmentConfig()
    desktop: DesktopConfig = DesktopConfig()
    """What each desktop is like."""
    run: RunConfig = RunConfig()
    agent: HierarchicalConfig | None = None
    """The agent's own settings; none: its defaults, or those of the checkpoint that it starts from."""
    kind: Literal["hierarchical"] = "hierarchical"
    """Which agent it is."""

    def check(self) -> None:
        """What no single field can know."""
        if self.training.buffer_size < self.training.num_envs:
            raise ConfigError(
                f"training.buffer_size {self.training.buffer_size} is smaller than training.num_envs "
                f"{self.training.num_envs}",
                hint="at least one step of each environment must fit: raise --rollout-steps or lower --num-envs",
            )


def load_config(
    path: Path | None = None,
    flags: Mapping[str, Any] | None = None,
    *,
    variables: Mapping[str, str] | None = None,
    desktop: Mapping[str, Any] | None = None,
) -> TrainConfig:
    """Everything put together; ``flags`` are dotted names, and those that are None were not given. ``desktop`` goes over
    the section of that name."""
    if path is None and DEFAULT_FILE.is_file():
        path = DEFAULT_FILE
    values = {} if path is None else _read(path)
    told = environment(variables=variables)
    for name, setting in VARIABLES.items():
        if name in told:
            _put(values, setting, told[name])
    for setting, value in (flags or {}).items():
        if value is not None:
            _put(values, setting, value)
    if desktop:
        values["desktop"] = overlaid(values.get("desktop"), desktop)
    try:
        config: TrainConfig = TrainConfig.build(**values)
    except ConfigError as error:
        where = f" (in {path}, a flag or a variable)" if path is not None else ""
        raise ConfigError(error.message + where, hint=error.hint or "see config/config.yaml") from error
    config.check()
    return config


def _read(path: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} can't be read: {error}", hint="name a YAML file with --config") from error
    except yaml.YAMLError as error:
        first = " ".join(str(error).split())
        raise ConfigError(f"{path} is not YAML: {first}", hint="see config/config.yaml") from error
    if values is None:
        return {}
    if not isinstance(values, dict) or not all(
        isinstance(part, dict) or part is None or name == "kind" for name, part in values.items()
    ):
        raise ConfigError(
            f"{path} must hold sections with settings", hint="such as training: and curriculum:"
        )
    return {name: part for name, part in values.items() if part is not None}


def _put(values: dict[str, Any], setting: str, value: Any) -> None:
    section, _, name = setting.partition(".")
    values[section] = {**values.get(section, {}), name: value}
