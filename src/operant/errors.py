"""Every failure that Operant raises on purpose, named by the boundary that it crosses.

The list is flat on purpose: catch the one that you can do something about, or ``OperantError`` for all.
Each carries an optional hint that says what to do; the command line prints it under the message.
"""

from __future__ import annotations


class OperantError(Exception):
    """A failure with a sentence for people and, where there is one, a way out."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


# What was handed in.


class ConfigError(OperantError):
    """A configuration value or key that can't be used."""


class InvalidAction(OperantError, ValueError):
    """An action that no desktop could perform."""


class ActionParseError(InvalidAction):
    """Text of a model or a client that is not an action of its format; quotes the offending part."""

    def __init__(self, message: str, *, offending: str = "", hint: str | None = None) -> None:
        quoted = offending if len(offending) <= 80 else offending[:77] + "..."
        super().__init__(f"{message}: {quoted!r}" if offending else message, hint=hint)
        self.offending = offending


class ActionNotExpressible(InvalidAction):
    """A canonical action that the asked-for format has no words for."""


class UnknownFunction(InvalidAction):
    """A call of a function that no application has."""


class BadArguments(InvalidAction):
    """A call whose arguments the function does not take."""


class CallFailed(InvalidAction):
    """A call that could not be carried out: nothing to do it to, a dialog in the way, a result too long."""


class CallTimeout(CallFailed):
    """A call that did not return in time; the process that carried it out was ended."""


class InvalidPath(OperantError, ValueError):
    """A path that is not inside the desktop, or not what the call needs."""


# What a desktop needs from the machine.


class SandboxUnavailable(OperantError):
    """This machine can't start isolated desktops."""


class MissingProgram(OperantError):
    """A program that a desktop is made of is not installed."""


class MissingDependency(OperantError):
    """A Python package that this needs is not installed."""


class ProviderUnavailable(OperantError):
    """A place where desktops should be can't be used: no Docker engine, no vmrun, no credentials."""


class UnknownProvider(ConfigError):
    """No provider of that name."""


class UnknownImage(ConfigError):
    """An image, a virtual machine or a snapshot that does not exist."""


class SpendingLimit(OperantError):
    """A machine that would cost more than was allowed."""


class LiveScreenRefused(OperantError):
    """The user's own screen was asked for without saying so explicitly, or it can't be reached."""


class PanicStop(OperantError):
    """The user slammed the pointer into a corner: nothing more is done to the live screen."""


# What goes wrong in a desktop. All of these mean: the desktop is suspect, replace it.


class DesktopError(OperantError):
    """A desktop that failed under us; the pool replaces it."""


class DesktopStartError(DesktopError):
    """A desktop did not come up."""


class DesktopDied(DesktopError):
    """Part of a desktop (its supervisor, display or window manager) is gone."""


class DesktopTimeout(DesktopError):
    """A desktop did not answer in time."""


class DesktopClosed(DesktopError):
    """The desktop was closed, or its lease has ended."""


class RemoteDesktopError(DesktopError):
    """A desktop of another machine that can't be reached, has none free, or says what can't be."""


class NotSupported(OperantError):
    """Something that this kind of desktop can't do."""


# What goes wrong inside a desktop that is itself well.


class ApplicationError(OperantError):
    """An application could not be used."""


class UnknownApplication(ApplicationError):
    """No application of that name is known, or no program of that name is inside the desktop."""


class ApplicationExited(ApplicationError):
    """An application ended before it showed a window."""


class WindowTimeout(ApplicationError):
    """An application showed no window in time."""


class ApplicationHung(ApplicationError):
    """An application does not deal with what was sent to it."""


class CommandTimeout(ApplicationError):
    """A command inside the desktop did not end in time and was killed."""


class ProcessLimit(ApplicationError):
    """The desktop is at its limit of processes."""


class DiskFull(ApplicationError):
    """The desktop's private disk is full."""


class AccessibilityError(ApplicationError):
    """An application's accessibility tree could not be read in time."""


# What goes wrong with tasks.


class TaskError(OperantError):
    """A task, a template or a task file that can't be used; names the file, the task and the field."""


class WidgetMissing(TaskError):
    """A widget that an oracle wants to use is not in sight, or not yet."""


class UnknownSuite(TaskError):
    """No suite of that name."""


class SetupFailed(OperantError):
    """A task's set-up did not work: the environment's failure, never the agent's."""


class MissingAsset(SetupFailed):
    """A file that a task takes from the web is not in the cache."""


class VerifierError(OperantError):
    """A success criterion could not be evaluated: neither success nor failure is known."""


class RewardError(OperantError):
    """A reward term that raised, or gave something that is no finite number."""


class PoolExhausted(OperantError):
    """No desktop became free in time."""


class PoolFailed(OperantError):
    """A pool whose upkeep has failed: it starts and resets no desktops any more."""


# What goes wrong with agents, and with what their episodes leave behind.


class AgentError(OperantError):
    """An agent that can't be made or used."""


class UnknownAgent(AgentError):
    """No agent of that name."""


class AgentTimeout(AgentError):
    """An agent did not answer in time."""


class ModelError(AgentError):
    """A model, an adapter or a processor that can't be loaded, or not in the way that was asked for."""


class NoModel(ModelError):
    """A path at which there is no model."""


class ModelServerError(AgentError):
    """A model server that is down, slow or gives answers that can't be used."""


class HubError(AgentError):
    """A model hub that can't be reached, refuses, or has no such repository."""


class ResultsError(OperantError):
    """A results directory or an episode that can't be read, written or mixed with others."""


class NoResults(ResultsError):
    """A path at which there are no results, no episode or no demonstrations."""


# What goes wrong with learning.


class TrainingDiverged(OperantError):
    """Loss or gradients have not been finite for a while: nothing more would be learned."""


class CheckpointError(OperantError):
    """A file that is no checkpoint of this agent, or one that can't be used here."""


class NoCheckpoint(CheckpointError):
    """A path at which there is no checkpoint."""


class NoSpaceLeft(CheckpointError):
    """The disk is full: a checkpoint was not written; the one before it is whole."""


class ClusterError(OperantError):
    """A Ray cluster that can't be started, reached or used, or one that lost too much to go on."""


# What clients of the service get wrong, and what the service declines.


class Unauthorized(OperantError):
    """No token, or not the right one."""


class RequestForbidden(OperantError):
    """Something that this service was told not to do."""


class TooManyRequests(OperantError):
    """A client asks faster than it may, or a queue is full."""


class RequestCancelled(OperantError):
    """The client does not want the answer any more."""


class BodyTooLarge(OperantError):
    """A request, or the picture in it, is larger than allowed."""


class BadPicture(OperantError):
    """Bytes that are no picture."""


class UnknownSession(OperantError):
    """No session of that name."""


class SessionExpired(UnknownSession):
    """The session was not used for too long, and has been ended."""


class SessionBusy(OperantError):
    """An agent is at work there."""


class UnknownAttempt(OperantError):
    """No attempt at a task of that name."""


class UnknownTask(TaskError):
    """No task of that id."""


class UnknownEpisode(OperantError):
    """No episode, or no file of an episode, of that name."""


class UnknownModel(OperantError):
    """No model of that name."""


class BadCheckpoint(OperantError):
    """A file that is no checkpoint of the agent."""


class NotApproved(OperantError):
    """An action on the live screen was declined, or not approved in time."""


class TrainingBusy(OperantError):
    """A training run is under way already."""


class NoTraining(OperantError):
    """There is no training run to stop or to ask about."""


class ServiceNotReady(OperantError):
    """The service is starting or stopping, or this machine can't do what was asked."""


class Terminated(KeyboardInterrupt):
    """SIGTERM: everything is put away as after Ctrl-C. For a service it is the usual end."""


# Which failures cost an episode, and which end more than that.

#: The user's stop, and mistakes that the next episode would meet as well.
FATAL = (
    PanicStop,
    ConfigError,
    MissingDependency,
    ProviderUnavailable,
    RewardError,
    SpendingLimit,
    TaskError,
)


#: What was typed can't be used: a flag, a setting, a name, a path or a task file. Nothing was begun.
BAD_USAGE = (
    ConfigError,
    InvalidPath,
    TaskError,
    UnknownAgent,
    UnknownApplication,
    UnknownFunction,
    NoCheckpoint,
    NoModel,
    NoResults,
)


def is_bad_usage(error: BaseException) -> bool:
    """Whether typing something else would mend it: the command line ends with 2 and not with 1."""
    return isinstance(error, BAD_USAGE)


def is_infra_error(error: BaseException) -> bool:
    """Whether an episode that meets this error ends as ``infra_error``: the machine failed, not the agent."""
    return isinstance(error, (OperantError, OSError))


def is_fatal(error: BaseException) -> bool:
    """Whether neither another try nor another desktop can mend it."""
    return isinstance(error, FATAL) or not is_infra_error(error)
