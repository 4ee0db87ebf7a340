"""Settings of a run on a Ray cluster: how many actors of each kind there are, and what each asks of a machine."""

from __future__ import annotations

from pydantic import Field

from operant.config.base import Config

__all__ = ["KEEPER_CPUS", "ClusterSettings"]


#: Who keeps episodes and who keeps versions: they need next to nothing, but Ray puts an actor that asks for nothing anywhere.
KEEPERS, KEEPER_CPUS = 2, 0.01


class ClusterSettings(Config):
    """Who is where. Episodes at once are ``actor.num_actors`` altogether, spread over the environment actors."""

    environment_actors: int = Field(default=1, ge=1)
    """Processes with a pool of desktops each."""
    environment_cpus: float = Field(default=1.0, ge=0)
    """Processors that each of them asks for."""
    inference_actors: int = Field(default=1, ge=1)
    """Copies of the model that answer; with a model server, processes that ask it."""
    inference_cpus: float = Field(default=1.0, ge=0)
    """Processors that each of them asks for."""
    inference_gpus: float = Field(default=0.0, ge=0)
    """GPUs that each of them asks for; half a GPU is 0.5."""
    learners: int = Field(default=1, ge=1)
    """Processes that learn together, each on its share of every batch."""
    learner_cpus: float = Field(default=1.0, ge=0)
    """Processors that each of them asks for."""
    learner_gpus: float = Field(default=0.0, ge=0)
    """GPUs that each of them asks for."""
    learner_restarts: int = Field(default=5, ge=0)
    """How often a learner that died goes on from its checkpoint; other actors are replaced without end."""
    object_store_mb: int = Field(default=256, ge=80)
    """Shared memory of a cluster that is started here; others have their own."""

    @property
    def gpus(self) -> float:
        """All together."""
        return self.inference_actors * self.inference_gpus + self.learners * self.learner_gpus

    @property
    def cpus(self) -> float:
        """All together."""
        return (
            self.environment_actors * self.environment_cpus
            + self.inference_actors * self.inference_cpus
            + self.learners * self.learner_cpus
            + KEEPERS * KEEPER_CPUS
        )
