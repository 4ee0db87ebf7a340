"""What an adapter to a vendor's API is: it keeps one episode's conversation in the vendor's protocol.

A new vendor is one module with a subclass of ``Dialogue`` and one line in ``operant.agents.hosted.VENDORS``.
Knows nothing of the loop around an agent: see ``operant.agents.hosted.agent``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from operant.actions.frames import UNLIMITED, Limits
from operant.agents.base import Usage
from operant.errors import NotSupported
from operant.types import Action, ActionResult, Point, Size, Window

if TYPE_CHECKING:
    from operant.agents.hosted.pictures import EncodedPicture
    from operant.agents.hosted.requests import Failure
    from operant.calls.declaration import Function
    from operant.config.hosted import HostedSettings, Observed

__all__ = ["NOT_EXECUTED", "CallResult", "Dialogue", "ModelCall", "ModelReply", "Seen"]

#: What models are told whose vendor explains the tool itself.
TASK_WORDS = (
    "You operate a computer on which nothing is at stake. Do the task with {} and do not ask back. "
    "When it is done, answer in plain text without a call. If the task asks for something, let the last line be "
    '"ANSWER:" and nothing but the answer. If the task can\'t be done, say why and write [INFEASIBLE].'
)
COMPUTER_TOOL = "the computer tool"
ONLY_FUNCTIONS = "the functions that you are given, which act on the applications on its screen,"
BOTH = "the computer tool and the functions that you are given: a function is faster where one fits,"

#: Anthropic's exact words for a call that was not tried; the other vendors prescribe none.
NOT_EXECUTED = "Not executed: an earlier computer action in this turn failed."


@dataclass(frozen=True, slots=True)
class Seen:
    """What the model is shown of an observation."""

    picture: EncodedPicture | None
    text: str = ""
    """Widgets, and what else is to be said."""
    windows: tuple[Window, ...] = ()
    """For models that are told which applications are open."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a model's turn: the actions that it asks for, or why it can't be read."""

    id: str
    name: str
    actions: tuple[Action, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class CallResult:
    """What became of a call."""

    call: ModelCall
    error: str = ""
    """Why it was not performed, or not to its end."""
    last: ActionResult | None = None
    """Of its last action that was tried."""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A turn of the model."""

    calls: tuple[ModelCall, ...] = ()
    text: str = ""
    """What it said besides its calls, without its thinking."""
    end: str = ""
    """Why there is no more to come: ``refusal`` or ``token_limit``."""
    checks: tuple[str, ...] = ()
    """Safety checks that have to be acknowledged before the calls may be performed."""
    usage: Usage = field(default_factory=Usage)


class Dialogue(ABC):
    """One episode's conversation. ``shown`` is the size of the pictures that the model is given."""

    limits: Limits = UNLIMITED
    key_variables: tuple[str, ...] = ()
    """Environment variables that may hold the key, the usual one first."""
    needs_key: bool = True
    calls_by: Literal["", "words", "tools"] = ""
    """How the model calls functions: not at all, in its dialect's words, or by a tool for each of them."""
    most_functions: int = 120
    """How many functions may be declared as tools. Vendors refuse more, and models choose worse from many."""
    converses: bool = False
    """Whether it answers plain text (``converse``)."""
    url_variables: tuple[str, ...] = ()
    """Environment variables that name another server than the vendor's."""

    def __init__(self, settings: HostedSettings, key: str) -> None:
        self.settings = settings
        self.observation: Observed = settings.observation or "screenshot"
        self.key = key
        self.shown = Size(1, 1)
        self.functions: tuple[Function, ...] = ()
        self.hands = True

    @property
    def task_words(self) -> str:
        """What models are told whose vendor explains the tool itself."""
        given = COMPUTER_TOOL if not self.functions else BOTH if self.hands else ONLY_FUNCTIONS
        return TASK_WORDS.format(given)

    def offer(self, functions: tuple[Function, ...], *, hands: bool) -> None:
        """Functions to declare as tools from the next request on, and whether pointer and keyboard may be used."""
        self.functions, self.hands = functions, hands

    def locate(self, point: Point, shown: Size) -> tuple[float, float]:
        """A place as the model counts."""
        return point.to_pixel(shown)

    @abstractmethod
    def begin(self, instruction: str, shown: Size, seen: Seen) -> None:
        """A new conversation."""

    @abstractmethod
    def answer(self, results: Sequence[CallResult], seen: Seen) -> None:
        """What became of the calls of the last reply, and the screen now."""

    @abstractmethod
    def remark(self, why: str, seen: Seen) -> None:
        """The last reply held no call that could be answered."""

    @abstractmethod
    def send(self, timeout_s: float) -> ModelReply:
        """Ask once; ``Failure`` if there is no answer."""

    @abstractmethod
    def look_up(self, timeout_s: float) -> None:
        """A request that costs nothing and shows that server, key and model are there; ``Failure`` if not."""

    def converse(self, system: str, turns: Sequence[str], timeout_s: float) -> ModelReply:
        """Answer plain text: the user's turns and the model's own, in turn; no screen and no tools."""
        raise NotSupported(
            f"models of {self.settings.vendor} are not asked for plain text yet",
            hint="chat:MODEL with base_url speaks to any server with Chat Completions",
        )

    def mend(self, failure: Failure) -> bool:
        """Change the conversation so that the same request may pass; whether that was possible."""
        return False

    def close(self) -> None:  # noqa: B027 - not every vendor's client holds something
        """Let go of connections."""
