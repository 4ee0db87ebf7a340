"""Whether the agent does what people ask of it in their own words, through the API of a fresh service.

Two wishes, each in ten phrasings: five that training material may use, five that it must not. The latter stand in this
file and nowhere else; a test looks for them in tasks and configurations. Every request brings criteria, so that
what is counted is what was found on the desktop and not what the agent says.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from operant.bench.service import running_service
from operant.evaluation.statistics import wilson

__all__ = ["GOALS", "PHRASINGS", "Phrasing", "measure_phrasings"]

Progress = Callable[[str], None]

GOALS: dict[str, tuple[float, bool]] = {"success_rate": (0.9, False)}

MAX_STEPS = 20
ANSWER_S = 600.0  # a request may wait for a desktop, and an agent for its turn
#: The sum of the document first; each repetition of a phrasing takes the next.
SUMS = ((15, 27), (8, 64), (93, 48), (37, 5), (126, 59))
CALCULATORS = ("mate-calc", "galculator")


@dataclass(frozen=True)
class Phrasing:
    """One way to say it. ``{a}`` and ``{b}`` stand for the numbers of a sum."""

    wish: str
    words: str
    trained: bool
    """Whether training material may use it."""

    def instruction(self, a: int, b: int) -> str:
        return self.words.format(a=a, b=b)

    def criteria(self, a: int, b: int) -> dict[str, Any]:
        """The calculator is open, or shows the sum."""
        if self.wish == "open":
            return {"window_title": "Calculator"}
        return {"any": [{"accessible": {"app": app, "text": str(a + b)}} for app in CALCULATORS]}


def _phrasings(wish: str, trained: Sequence[str], held_out: Sequence[str]) -> Iterator[Phrasing]:
    for words in trained:
        yield Phrasing(wish, words, True)
    for words in held_out:
        yield Phrasing(wish, words, False)


PHRASINGS = (
    *_phrasings(
        "open",
        trained=(
            "Open the calculator application",
            "Open the calculator",
            "Start the calculator",
            "Launch the calculator program",
            "Open Calculator",
        ),
        held_out=(
            "Could you bring up the calculator for me?",
            "I need a calculator on the screen",
            "Please get the calculator app running",
            "Show me the desktop calculator",
            "Run the calculator app, please",
        ),
    ),
    *_phrasings(
        "compute",
        trained=(
            "Open calculator and compute {a} + {b}",
            "Open the calculator and compute {a} + {b}",
            "Start the calculator and work out {a} + {b}",
            "Compute {a} + {b} with the calculator",
            "Use the calculator to compute {a} + {b}",
        ),
        held_out=(
            "What is {a} + {b}? Let the calculator show it",
            "Please add {a} and {b} in the calculator app",
            "Get the calculator going and find {a} + {b}",
            "I want to see the result of {a} + {b} on the calculator",
            "Bring up a calculator, then calculate {a} + {b}",
        ),
    ),
)


def measure_phrasings(
    progress: Progress,
    *,
    agent: str = "hierarchical",
    repeats: int = 5,
    desktops: int = 1,
    deterministic: bool = False,
    phrasings: Sequence[Phrasing] = PHRASINGS,
) -> dict[str, Any]:
    """Each phrasing so many times, each time on a fresh desktop, ``desktops`` requests at once."""
    asked = [(phrasing, *SUMS[turn % len(SUMS)]) for turn in range(repeats) for phrasing in phrasings]
    done = 0
    counting = threading.Lock()
    with (
        running_service(_spelled_out(agent), desktops=desktops, batch=max(1, desktops)) as (url, _),
        httpx.Client(base_url=url, timeout=ANSWER_S) as client,
        ThreadPoolExecutor(desktops) as askers,
    ):
        info = client.get("/api/v1/agent/model-info").raise_for_status().json()

        def ask(question: tuple[Phrasing, int, int]) -> dict[str, Any]:
            nonlocal done
            answer = _ask(client, *question, deterministic)
            with counting:
                done += 1
                progress(f"{done} of {len(asked)} requests")
            return answer

        requests = list(askers.map(ask, asked))
    return {
        "agent": info["name"],
        "fingerprint": info["fingerprint"],
        "deterministic": deterministic,
        "max_steps": MAX_STEPS,
        **_counts(requests),
        "by_wish": {wish: _counts(requests, wish=wish) for wish in dict.fromkeys(p.wish for p in phrasings)},
        "by_trained": {str(known).lower(): _counts(requests, trained=known) for known in (True, False)},
        "by_phrasing": {
            one.words: {"trained": one.trained, **_counts(requests, words=one.words)} for one in phrasings
        },
        "requests": requests,
    }


def _spelled_out(agent: str) -> str:
    """The same agent for a service that runs in another directory."""
    name, _, argument = agent.partition(":")
    return f"{name}:{Path(argument).resolve()}" if argument and Path(argument).exists() else agent


def _ask(client: httpx.Client, phrasing: Phrasing, a: int, b: int, deterministic: bool) -> dict[str, Any]:
    body = {
        "instruction": phrasing.instruction(a, b),
        "success_criteria": phrasing.criteria(a, b),
        "max_steps": MAX_STEPS,
        "deterministic": deterministic,
    }
    answer = client.post("/api/v1/agent/complete-task", json=body)
    said = answer.json()
    if answer.status_code != 200:
        said = {"success": None, "verified": False, "outcome": said["code"], "why": said["message"]}
    return {
        "wish": phrasing.wish,
        "words": phrasing.words,
        "trained": phrasing.trained,
        "instruction": body["instruction"],
        "success": said["success"],
        "outcome": said["outcome"],
        "why": said["why"],
        "steps": said.get("steps_taken", 0),
    }


def _counts(requests: Sequence[Mapping[str, Any]], **wanted: Any) -> dict[str, Any]:
    """Of the requests with those properties. One that the machine failed is no success either, and told apart."""
    chosen = [one for one in requests if all(one[name] == value for name, value in wanted.items())]
    successes = sum(one["success"] is True for one in chosen)
    return {
        "n": len(chosen),
        "successes": successes,
        "unverified": sum(one["success"] is None for one in chosen),
        "success_rate": successes / len(chosen) if chosen else None,
        "interval_95": [round(bound, 4) for bound in wilson(successes, len(chosen))],
    }
