"""What ``PPOTrainer`` makes of the environment that it is given: a vector environment in the policy's own terms.

One Gymnasium environment becomes a vector of one. An environment of Operant that was made without a policy is asked
to code observations and actions as the policy does. Whatever can't be learned on is refused with the way that works.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from operant.errors import ConfigError

__all__ = ["SingleEnvironment", "as_environments"]


class SingleEnvironment(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """A vector of one, whose next episode begins within the step that ends the last."""

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 - as Gymnasium wants it
    num_envs = 1

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        self.env = env
        self.single_observation_space = env.observation_space
        self.single_action_space = env.action_space
        self.observation_space = batch_space(env.observation_space, 1)
        self.action_space = batch_space(env.action_space, 1)

    @property
    def observations(self) -> list[Any] | None:
        """What it shows at full size, if it has such a view."""
        seen = getattr(self.env.unwrapped, "observation", None)
        return None if seen is None else [seen]

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        return _batch(observation), self._add_info({}, info, 0)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(actions[0])
        if terminated or truncated:
            first, begun = self.env.reset()
            info = {"final_obs": observation, "final_info": info, **begun}
            observation = first
        return (
            _batch(observation),
            np.array([reward], np.float64),
            np.array([terminated], np.bool_),
            np.array([truncated], np.bool_),
            self._add_info({}, info, 0),
        )

    def render(self) -> Any:
        return (self.env.render(),)

    def close_extras(self, **kwargs: Any) -> None:
        self.env.close()


def _batch(observation: Any) -> dict[str, Any]:
    return {name: np.asarray(part)[None] for name, part in observation.items()}


def as_environments(env: Any, policy: Any) -> Any:
    """Environments that ``policy`` can be trained on, or a ConfigError that says why not."""
    _speak(env, policy)
    if isinstance(env, gymnasium.Env):
        if not isinstance(env.observation_space, gymnasium.spaces.Dict):
            raise ConfigError(
                f"observations of {env} are no dictionary", hint="wrap it: a policy reads parts by name"
            )
        return SingleEnvironment(env)
    if not hasattr(env, "num_envs"):
        raise ConfigError(
            f"{type(env).__name__} is no environment",
            hint='gymnasium.make("operant/Desktop-v0"), or operant.envs.DesktopVectorEnv(8)',
        )
    mode = (getattr(env, "metadata", None) or {}).get("autoreset_mode", AutoresetMode.SAME_STEP)
    if mode is not AutoresetMode.SAME_STEP:
        raise ConfigError(
            f"{type(env).__name__} begins the next episode by {mode.value}, and learning needs "
            f"{AutoresetMode.SAME_STEP.value}",
            hint='gymnasium.make_vec(..., vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP})',
        )
    return env


def _speak(env: Any, policy: Any) -> None:
    """Let an environment code observations and actions as the policy does, if it does not already."""
    coder, actions = getattr(policy, "perception", None), getattr(policy, "action_coder", None)
    if coder is None or actions is None:
        return
    space, acts = _spaces(env)
    if space is None or (space == coder.space and acts == actions.space and not _stale(env, coder)):
        return
    base = env.unwrapped
    # A wrapper that changes observations or actions has a space of its own.
    if hasattr(base, "recode") and _spaces(base) == (space, acts):
        base.recode(observations=coder, actions=actions)
        return
    which = "actions" if space == coder.space else "observations"
    raise ConfigError(
        f"the {which} of this environment are not those of the policy",
        hint="make it with observations=policy.perception, actions=policy.action_coder, after policy.load",
    )


def _spaces(env: Any) -> tuple[Any, Any]:
    if hasattr(env, "single_observation_space"):
        return env.single_observation_space, env.single_action_space
    return getattr(env, "observation_space", None), getattr(env, "action_space", None)


def _stale(env: Any, coder: Any) -> bool:
    """Whether it still has the coder that the policy had before it took over other settings."""
    theirs = getattr(getattr(env.unwrapped, "coding", None), "observations", None)
    return type(theirs) is type(coder) and getattr(theirs, "config", None) != getattr(coder, "config", None)
