"""All dialects of models by name. A new one is one module with a ``Dialect`` and one line here."""

from __future__ import annotations

from collections.abc import Mapping

from operant.actions import (
    anthropic,
    computer_rl,
    function_tools,
    gemini,
    glm,
    json_text,
    kimi,
    openai,
    pyautogui_source,
    qwen,
    ui_tars,
    ui_tars_2,
)
from operant.actions.dialect import Dialect
from operant.actions.payload import choose

__all__ = ["DIALECTS", "TEXT_DIALECTS", "dialect"]

DIALECTS: Mapping[str, Dialect] = {
    "anthropic_toolset": anthropic.DIALECTS["computer_toolset_20260801"],
    "anthropic": anthropic.DIALECTS["computer_20251124"],
    "anthropic_20250124": anthropic.DIALECTS["computer_20250124"],
    "anthropic_20241022": anthropic.DIALECTS["computer_20241022"],
    "openai": openai.DIALECT,
    "gemini": gemini.DIALECT,
    "gemini_browser": gemini.BROWSER,
    "function_tools": function_tools.DIALECT,
    "qwen2_5_vl": qwen.VERSION_2_5,
    "qwen3_vl": qwen.VERSION_3,
    "qwen3_5": qwen.VERSION_3_5,
    "ui_tars": ui_tars.DIALECT,
    "ui_tars_1_5": ui_tars.VERSION_1_5,
    "ui_tars_doubao": ui_tars.DOUBAO,
    "ui_tars_2": ui_tars_2.VERSION_2,
    "ui_tars_2_omni": ui_tars_2.OMNI,
    "glm_4_5v": glm.DIALECT,
    "kimi": kimi.DIALECT,
    "computer_rl": computer_rl.DIALECT,
    "computer_rl_visual": computer_rl.VISUAL,
    "pyautogui": pyautogui_source.DIALECT,
    "json": json_text.DIALECT,
}
#: Those that need no tools: any server that completes chats will do.
TEXT_DIALECTS: tuple[str, ...] = tuple(name for name, one in DIALECTS.items() if one.way == "text")


def dialect(name: str) -> Dialect:
    """The dialect of that name; an unknown one gets the nearest as a hint."""
    return choose("dialect", name, DIALECTS)
