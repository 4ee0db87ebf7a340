"""How a criterion answers when the desktop gives no clear evidence.

What an agent left behind may be missing, broken, huge or hanging. That is never an exception to the caller:
it is "no", and where it can't be known it is an ``Unclear`` no, which ``Not`` does not turn into a yes.
Trouble with the desktop itself (``DesktopError``) is no answer and goes through.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from operant.errors import ApplicationError
from operant.tasks.criteria.base import Criterion, Verdict, World

__all__ = ["NoEvidence", "Question", "Refuted", "Unclear"]


class Refuted(Exception):
    """Raised while looking: it does not hold, for this reason."""


class NoEvidence(Exception):
    """Raised while looking: what the agent left can't be read, for this reason."""


@dataclass(frozen=True)
class Unclear(Verdict):
    """Not held because it could not be known; its negation does not hold either."""


class Question(Criterion):
    """A criterion that looks at the desktop; subclasses write ``judge``."""

    def check(self, world: World) -> Verdict:
        try:
            return self.judge(world)
        except Refuted as reason:
            return Verdict(False, str(reason))
        except NoEvidence as reason:
            return Unclear(False, str(reason))
        except ApplicationError as error:  # a program of the agent hangs, the process limit is reached, ...
            return Unclear(False, error.message)

    @abstractmethod
    def judge(self, world: World) -> Verdict: ...
