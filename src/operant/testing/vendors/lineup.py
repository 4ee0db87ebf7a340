"""Every dialect that hosted agents speak, with the server that answers in it: what tests and measurements run through.

One line of settings a dialect; the agent itself is made as for a user, only the key is a test's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from operant.actions.registry import DIALECTS, TEXT_DIALECTS
from operant.agents.hosted import make
from operant.config.hosted import HostedSettings
from operant.testing.vendors.agent import OracleBehindApi
from operant.testing.vendors.anthropic_messages import AnthropicMessages
from operant.testing.vendors.gemini_content import GeminiContent
from operant.testing.vendors.minds import Mind, Rehearsal, ScriptedMind
from operant.testing.vendors.openai_chat import OpenAIChat
from operant.testing.vendors.openai_responses import OpenAIResponses
from operant.testing.vendors.protocol import VendorProtocol

if TYPE_CHECKING:
    from operant.tasks.task import Task
    from operant.testing.vendors.faults import FaultPlan
    from operant.testing.vendors.server import VendorConversation, VendorServer

__all__ = ["LINEUP", "PlayedDialect"]

KEY = "sk-of-a-strict-server-0123456789"


@dataclass(frozen=True)
class PlayedDialect:
    """A hosted agent's settings and the server that it plays against."""

    name: str
    vendor: str
    model: str
    protocol: type[VendorProtocol]
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the protocol."""

    def serve(self, mind: Mind | None = None) -> VendorProtocol:
        return self.protocol(mind or ScriptedMind([]), key=KEY, **self.options)

    def hosted_settings(self, base_url: str, **more: Any) -> HostedSettings:
        made: HostedSettings = HostedSettings.build(
            vendor=self.vendor, model=self.model, base_url=base_url, **{**self.settings, **more}
        )
        return made

    def agent(
        self,
        conversation: VendorConversation,
        rehearsal: Callable[[Task], Rehearsal | None] = lambda task: None,
        on_close: Callable[[OracleBehindApi], None] = lambda agent: None,
        **more: Any,
    ) -> OracleBehindApi:
        """The hosted agent, with the task's oracle as its model; ``more`` are settings of the agent."""
        hosted = make(self.hosted_settings(conversation.base_url, **more), key=KEY)
        return OracleBehindApi(conversation, hosted, rehearsal, on_close)

    @contextmanager
    def playing(
        self, server: VendorServer, faults: FaultPlan | None = None, **more: Any
    ) -> Iterator[OracleBehindApi]:
        conversation = server.open(self.serve(), faults)
        agent = self.agent(conversation, **more)
        try:
            yield agent
        finally:
            agent.close()
            server.shut(conversation)


def _chat(name: str) -> PlayedDialect:
    tree = DIALECTS[name].sees == "tree"
    return PlayedDialect(
        f"chat_{name}",
        "chat",
        "local-llm" if tree else "local-vlm",
        OpenAIChat,
        {"dialect": name, "observation": "a11y_tree" if tree else "screenshot"},
        {"dialect": name, "thinks": True, "batches": False},
    )


def _every() -> Iterator[PlayedDialect]:
    yield PlayedDialect("anthropic_toolset", "anthropic", "claude-opus-5-5", AnthropicMessages)
    yield PlayedDialect("anthropic_20251124", "anthropic", "claude-sonnet-4-6", AnthropicMessages)
    yield PlayedDialect("anthropic_20250124", "anthropic", "claude-haiku-4-5", AnthropicMessages)
    yield PlayedDialect("openai", "openai", "gpt-6-astra", OpenAIResponses, options={"checks": 1})
    yield PlayedDialect("gemini", "gemini", "gemini-3.5-flash", GeminiContent, options={"confirmations": 1})
    yield PlayedDialect("gemini_browser", "gemini", "gemini-2.5-computer-use-preview-10-2025", GeminiContent)
    functions = {"dialect": "function_tools"}
    yield PlayedDialect("openai_function_tools", "openai", "gpt-6-astra", OpenAIResponses, functions)
    yield PlayedDialect("chat_function_tools", "chat", "gpt-5.6-terra", OpenAIChat, functions, functions)
    for name in TEXT_DIALECTS:
        yield _chat(name)


LINEUP: Mapping[str, PlayedDialect] = {one.name: one for one in _every()}
