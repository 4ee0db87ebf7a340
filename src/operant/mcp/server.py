"""The protocol: tools, resources and prompts of one server, on the official package.

Failures of a tool are answers of the tool, with a message and a hint. Knows nothing of pipes and sockets: ``find``
says whose session a request belongs to.
"""

from __future__ import annotations

import base64
import re
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
import numpy as np
import numpy.typing as npt
from loguru import logger
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from PIL import Image

from operant import __version__
from operant.actions.payload import nearest
from operant.errors import OperantError, TaskError
from operant.mcp.offer import Offer
from operant.mcp.requests import Request
from operant.mcp.session import DesktopSession
from operant.mcp.tools import Tool, tools_of
from operant.pictures.png import png_bytes
from operant.tasks.task import Task
from operant.types import Size

__all__ = ["FindSession", "make_server"]

Context = ServerRequestContext[Any, Any]
FindSession = Callable[[Context], DesktopSession]

SCREEN, EPISODE = "desktop://screen", "desktop://episode"
ERROR_NUMBER = re.compile(r"^\[Errno \d+\] ")
LONGEST_SEED = 9  # digits
JSON_LINES = "application/jsonl"
ABOUT = (
    "A Linux desktop in a sandbox of its own. Look with screenshot, act with click, type and key in pixels of that"
    " screenshot; widgets lists what can be clicked, launch opens applications. Every action answers with the"
    " screen after it. Nothing that happens there touches the user's machine."
)


def make_server(offer: Offer, find: FindSession) -> Server[Any]:
    """A server whose requests are served by the sessions that ``find`` finds."""
    tools = tools_of(offer)

    async def in_thread(do: Callable[[], Any]) -> Any:
        # A request that is cancelled must not keep the server from closing the desktop.
        request = Request()
        try:
            return await anyio.to_thread.run_sync(partial(request.do, do), abandon_on_cancel=True)
        except anyio.get_cancelled_exc_class():
            threading.Thread(target=request.cancel, name="cancel", daemon=True).start()
            raise

    async def list_tools(context: Context, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_describe(tool) for tool in tools.values()])

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            tool = tools.get(params.name)
            if tool is None:
                near = nearest(params.name, tools)
                listed = f"tools: {', '.join(tools)}"
                return _failure(
                    f"there is no tool {params.name[:80]!r}", f"{near} {listed}" if near else listed
                )
            session = find(context)
            info = context.session.client_params
            session.client = info.client_info.name[:80] if info is not None else "unknown"
            began = time.perf_counter()
            result = await in_thread(partial(_use, tool, session, params.arguments or {}))
            logger.debug("{}: {:.0f} ms", params.name, 1000 * (time.perf_counter() - began))
            return types.CallToolResult(content=result)
        except OperantError as error:
            return _failure(error.message, error.hint)
        except OSError as error:  # of a file of the desktop
            return _failure(_words_of(error))
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - the client gets a sentence and the log the rest
            logger.exception("the tool {} failed", params.name)
            return _failure(f"something unexpected: {type(error).__name__}", "it is in the server's log")

    async def list_resources(context: Context, params: Any) -> types.ListResourcesResult:
        screen = types.Resource(
            name="screen", uri=SCREEN, description="The screen as it is now.", mime_type="image/png"
        )
        episode = types.Resource(
            name="episode",
            uri=EPISODE,
            description="What was done so far, a line for each step.",
            mime_type=JSON_LINES,
        )
        return types.ListResourcesResult(resources=[screen, episode])

    async def read_resource(
        context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        if uri not in (SCREEN, EPISODE):
            hint = nearest(uri, (SCREEN, EPISODE)) or f"resources: {SCREEN}, {EPISODE}"
            raise MCPError(
                types.INVALID_PARAMS, f"there is no resource {uri[:120]!r}; {hint}", {"uri": uri[:120]}
            )
        try:
            session = find(context)
            if uri == EPISODE:
                lines = await in_thread(session.journal)
                text = types.TextResourceContents(uri=uri, text=lines, mime_type=JSON_LINES)
                return types.ReadResourceResult(contents=[text])
            png = await in_thread(lambda: _png(session.glance(), session.frame.shown))
        except (OperantError, OSError) as error:
            raise MCPError(types.INTERNAL_ERROR, str(error)) from error
        blob = types.BlobResourceContents(uri=uri, blob=base64.b64encode(png).decode(), mime_type="image/png")
        return types.ReadResourceResult(contents=[blob])

    async def list_prompts(context: Context, params: Any) -> types.ListPromptsResult:
        seed = types.PromptArgument(
            name="seed", description="Which instance; 0 unless given.", required=False
        )
        prompts = [
            types.Prompt(name=template.id, description=template.instructions[0], arguments=[seed])
            for template in offer.templates
        ]
        if offer.task is not None:
            prompts = [types.Prompt(name=offer.task.id, description=offer.task.instruction)]
        return types.ListPromptsResult(prompts=prompts)

    async def get_prompt(context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        try:
            task = _asked_for(offer, params)
        except OperantError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        steps = f"You have {task.max_steps} steps. When it is done, call submit."
        if offer.task is None:
            steps = f"First call begin_task with task {task.id!r} and seed {task.seed}. {steps}"
        message = types.TextContent(type="text", text=f"{task.instruction}\n\n{steps}")
        return types.GetPromptResult(
            description=task.id, messages=[types.PromptMessage(role="user", content=message)]
        )

    about = ABOUT
    if offer.task is not None:
        about += f" The task: {offer.task.instruction} Call submit when it is done."
    return Server(
        "operant",
        version=__version__,
        title="Operant desktop",
        instructions=about,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def _describe(tool: Tool[Any]) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.schema(),
        annotations=types.ToolAnnotations(read_only_hint=tool.read_only, open_world_hint=False),
    )


def _use(
    tool: Tool[Any], session: DesktopSession, arguments: dict[str, Any]
) -> list[types.TextContent | types.ImageContent]:
    reply = tool.call(session, arguments)
    content: list[types.TextContent | types.ImageContent] = []
    if reply.text or reply.picture is None:
        content.append(types.TextContent(type="text", text=reply.text))
    if reply.picture is not None:
        whole = reply.picture.shape[:2] == (session.frame.screen.height, session.frame.screen.width)
        png = _png(reply.picture, session.frame.shown if whole else None)
        data = base64.b64encode(png).decode()
        content.append(types.ImageContent(type="image", data=data, mime_type="image/png"))
    return content


def _png(screen: npt.NDArray[np.uint8], shown: Size | None) -> bytes:
    height, width = screen.shape[:2]
    if shown is not None and (shown.width, shown.height) != (width, height):
        picture = Image.fromarray(np.ascontiguousarray(screen))
        screen = np.asarray(picture.resize((shown.width, shown.height), Image.Resampling.LANCZOS))
    return png_bytes(screen)


def _failure(message: str, hint: str | None = None) -> types.CallToolResult:
    text = f"{message}\nhint: {hint}" if hint else message
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def _words_of(error: OSError) -> str:
    """Without the number, which helps no model."""
    said = ERROR_NUMBER.sub("", error.strerror or str(error))
    return f"{said}: {str(error.filename)[:120]}" if error.filename else said[:300]


def _asked_for(offer: Offer, params: types.GetPromptRequestParams) -> Task:
    if offer.task is not None and params.name == offer.task.id:
        return offer.task
    given = dict(params.arguments or {})
    seed = given.pop("seed", "0")
    if given or not str(seed).isdecimal() or len(str(seed)) > LONGEST_SEED:
        raise TaskError("a prompt takes one argument, seed", hint="a whole number such as 0")
    return offer.task_of(params.name, int(seed))
