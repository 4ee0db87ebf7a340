"""Vendors' APIs on the loopback interface, as strict as documented, with a task's oracle as the model.

For tests of hosted agents without a vendor: a request that breaks a rule gets the documented error and status, and
requests are also checked against the types of the vendor's own SDK. The replies are what the oracle does next.
"""

from __future__ import annotations

from operant.testing.vendors.agent import OracleBehindApi
from operant.testing.vendors.anthropic_messages import AnthropicMessages
from operant.testing.vendors.faults import FaultPlan
from operant.testing.vendors.gemini_content import GeminiContent
from operant.testing.vendors.minds import OracleMind, Rehearsal, ScriptedMind
from operant.testing.vendors.openai_chat import OpenAIChat
from operant.testing.vendors.openai_responses import OpenAIResponses
from operant.testing.vendors.server import VendorConversation, VendorServer

__all__ = [
    "AnthropicMessages",
    "FaultPlan",
    "GeminiContent",
    "OpenAIChat",
    "OpenAIResponses",
    "OracleBehindApi",
    "OracleMind",
    "Rehearsal",
    "ScriptedMind",
    "VendorConversation",
    "VendorServer",
]
