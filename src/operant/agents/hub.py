"""Checkpoints on a HuggingFace hub: they go up with a card, and come down to be evaluated or trained on.

Thin over ``huggingface_hub``, whose HF_TOKEN, HF_ENDPOINT, HF_HOME and HF_HUB_OFFLINE work as everywhere. Knows which
files of a checkpoint others need and what a card says of them; loads no model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import huggingface_hub
from huggingface_hub import CommitOperationAdd, ModelCard, ModelCardData, errors

from operant import __version__
from operant.errors import ConfigError, HubError

__all__ = ["card", "files", "hint_for", "pull", "push"]

ADAPTER_CONFIG = "adapter_config.json"
CARD = "README.md"
BLANK = "[More Information Needed]"  # what PEFT leaves in a card without text
_NAME = re.compile(r"(\w[\w.-]*/)?\w[\w.-]*")
FAILURES = (OSError, ValueError, errors.HTTPError)  # type: ignore[attr-defined]


def files(checkpoint: Path) -> dict[str, Path]:
    """What goes up, by its name there: a model's directory without its card, or one file of weights."""
    if checkpoint.is_file():
        return {checkpoint.name: checkpoint}
    found = {
        path.name: path
        for path in sorted(checkpoint.iterdir())
        if path.is_file() and not path.name.startswith(".") and path.name != CARD
    }
    if not found:
        raise HubError(f"{checkpoint} holds no files")
    return found


def card(checkpoint: Path, repo: str, training: Mapping[str, Any] | None = None) -> str:
    """The card: the one beside the model if there is one, or one that says what is known.

    ``training`` are the settings of the run, if they are known.
    """
    if checkpoint.is_dir() and (checkpoint / CARD).is_file():
        written = (checkpoint / CARD).read_text(encoding="utf-8")
        if BLANK not in written:
            return written
    base = _base(checkpoint)
    vlm = checkpoint.is_dir()
    data = ModelCardData(
        base_model=base,
        library_name="peft" if base else "transformers" if vlm else "operant",
        pipeline_tag="image-text-to-text" if vlm else "reinforcement-learning",
        tags=["operant", "computer-use", "reinforcement-learning", *(["lora"] if base else [])],
    )
    kind = (
        f"LoRA adapters for {base}" if base else "A vision-language model" if vlm else "A hierarchical agent"
    )
    lines = [
        f"# {repo.rpartition('/')[2]}",
        f"{kind} that operates a desktop by clicks and keys, trained with Operant {__version__}.",
        "## Use",
        f"```\noperant hub pull {repo} model\noperant eval --checkpoint model --suite core\n```",
    ]
    if training:
        settings = "\n".join(f"| {name} | {value} |" for name, value in _settings(training))
        lines += ["## Training", f"| setting | value |\n|---|---|\n{settings}"]
    lines += [
        "## Results",
        "None are given. `operant eval` makes them, with their number of episodes and interval.",
        "## Limits",
        "It acts on whatever desktop it is given. Run it in a sandbox, or with a person who approves its actions.",
    ]
    return str(ModelCard(f"---\n{data.to_yaml()}\n---\n\n" + "\n\n".join(lines) + "\n"))


def push(
    checkpoint: Path,
    repo: str,
    *,
    private: bool = False,
    message: str = "Upload a checkpoint",
    training: Mapping[str, Any] | None = None,
) -> str:
    """Put a checkpoint with its card into a repository, which is made if it is not there; where it is then."""
    base = _base(checkpoint)
    if base is not None and Path(base).expanduser().exists():
        raise HubError(
            f"these adapters are for {base}, which others do not have",
            hint="push a whole model: VLMWrapper(PATH).save_merged(DIRECTORY), then push that",
        )
    contents: dict[str, Any] = {name: str(path) for name, path in files(checkpoint).items()}
    contents[CARD] = card(checkpoint, repo, training).encode()
    api = huggingface_hub.HfApi()
    try:
        made = api.create_repo(repo, private=private, exist_ok=True)
        additions = [CommitOperationAdd(name, content) for name, content in contents.items()]
        api.create_commit(made.repo_id, additions, commit_message=message)
    except FAILURES as error:
        raise _failure(repo, error) from error
    return str(made)


def pull(repo: str, directory: Path | None = None, *, revision: str | None = None) -> Path:
    """A repository's files, in the directory or in the hub's cache."""
    check_name(repo)
    try:
        return Path(huggingface_hub.snapshot_download(repo, revision=revision, local_dir=directory))
    except FAILURES as error:
        raise _failure(repo, error) from error


def check_name(repo: str) -> None:
    """An error, before anything is asked, if no repository can be called that."""
    if not _NAME.fullmatch(repo):
        raise ConfigError(f"{repo!r} is no name of a repository", hint="write it as OWNER/NAME")


def hint_for(error: BaseException) -> str | None:
    """A way out, if the hub said why it refused; looks at what caused the error, too."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, errors.GatedRepoError):
            return "accept its terms on the model's page, then set HF_TOKEN to a token of that account"
        if isinstance(cause, errors.OfflineModeIsEnabled):
            return "HF_HUB_OFFLINE is set: unset it, or download the model on another machine first"
        if isinstance(cause, errors.RepositoryNotFoundError):
            return "is the name right? private repositories need HF_TOKEN, or hf auth login"
        if isinstance(cause, errors.RevisionNotFoundError):
            return "leave --revision out for the newest"
        if isinstance(cause, errors.HfHubHTTPError) and cause.response.status_code in (401, 403):
            return "set HF_TOKEN to a token that may do this, or run hf auth login"
        if isinstance(cause, errors.LocalTokenNotFoundError):
            return "set HF_TOKEN, or run hf auth login"
        cause = cause.__cause__ or cause.__context__
    return None


def _failure(repo: str, error: BaseException) -> HubError:
    first = (str(error) or type(error).__name__).strip().splitlines()[0][:200]
    hint = hint_for(error) or f"is {huggingface_hub.constants.ENDPOINT} reachable? HF_ENDPOINT names another"
    return HubError(f"{repo}: {first}", hint=hint)


def _base(checkpoint: Path) -> str | None:
    """The model that adapters are for; None for a whole model."""
    path = checkpoint / ADAPTER_CONFIG
    if not checkpoint.is_dir() or not path.is_file():
        return None
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["base_model_name_or_path"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise HubError(f"{path} does not name its model: {error}") from error


def _settings(training: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """What a reader wants to know of a run's settings, where it is there."""
    wanted = (
        *("prompt.action_format", "model.max_pixels", "training.algorithm", "training.num_iterations"),
        *("training.learning_rate", "environment.suite", "actor.session_type", "actor.task_prompt"),
    )
    found = []
    for name in wanted:
        value: Any = training
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is not None:
            found.append((name, str(value).replace("\n", " ").replace("|", "\\|")))
    return found
