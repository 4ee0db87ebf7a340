"""Checks of Operant itself: how it is installed, its Python packages, its extras, and PyTorch on a GPU.

The metadata of the installed Operant says which packages it needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from operant.doctor.check import Check, CheckStatus
from operant.doctor.fixes import install_python
from operant.doctor.machine import Machine

__all__ = ["check_packages"]

_EXTRA = re.compile(r"extra\s*==\s*['\"]([\w-]+)['\"]")

#: extra -> what it is for; those that follow are for work on Operant itself
_PURPOSES = {
    "learn": "training, and the shipped agent",
    "vlm": "vision-language models",
    "remote": "desktops of other machines",
    "service": "operant serve",
    "hosted": "agents behind the APIs of vendors",
    "mcp": "operant mcp",
    "cluster": "training on Ray",
    "office": "documents of the suite office",
    "osworld": "metrics of OSWorld's tasks",
    "docker": "desktops in containers",
    "aws": "desktops on machines of AWS",
}
_OWN_WORK = {"dev": "make test and make check", "docs": "make docs"}


def check_packages(machine: Machine) -> Iterator[Check]:
    """How Operant is installed, and what it lacks."""
    requirements = machine.requirements()
    yield _operant(machine, requirements)
    for name, found, problem in _required(machine, requirements, extra=""):
        if problem is None:
            yield Check(name, CheckStatus.OK, found)
        else:
            yield Check(name, CheckStatus.MISSING, problem, install_python(machine))
    yield _gpu(machine)
    for extra in dict.fromkeys(name for line in requirements for name in _EXTRA.findall(line)):
        if extra not in _OWN_WORK or machine.checkout:
            yield _extra(machine, requirements, extra)


def _operant(machine: Machine, requirements: Sequence[str]) -> Check:
    version = machine.package("operant")
    place = f"a checkout at {machine.checkout}" if machine.checkout else "an installed package"
    if version is not None and requirements:
        return Check("operant", CheckStatus.OK, f"{version}, {place}")
    detail = f"{place} that is not installed: its packages can't be checked"
    return Check("operant", CheckStatus.WARN, detail, install_python(machine))


def _extra(machine: Machine, requirements: Sequence[str], extra: str) -> Check:
    wanted = list(dict.fromkeys(_required(machine, requirements, extra=extra)))
    problems = [f"{name} {problem}" for name, _, problem in wanted if problem is not None]
    if not problems:
        found = ", ".join(f"{name} {version}" for name, version, _ in wanted)
        return Check(f"extra {extra}", CheckStatus.OK, found, required=False)
    purpose = {**_PURPOSES, **_OWN_WORK}.get(extra)
    detail = "; ".join(problems) + (f"; for {purpose}" if purpose else "")
    return Check(
        f"extra {extra}", CheckStatus.MISSING, detail, install_python(machine, extra), required=False
    )


def _required(
    machine: Machine, requirements: Sequence[str], *, extra: str
) -> Iterator[tuple[str, str, str | None]]:
    """(name, installed version, problem) of what Operant itself or one of its extras requires."""
    from packaging.requirements import Requirement

    for line in requirements:
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None:
            applies = not extra
        else:
            applies = marker.evaluate({"extra": extra})
            if extra and marker.evaluate({"extra": ""}):
                applies = False
        if not applies:
            continue
        if requirement.name == "operant":  # an extra that holds others
            for other in sorted(requirement.extras):
                yield from _required(machine, requirements, extra=other)
            continue
        version = machine.package(requirement.name)
        if version is None:
            yield requirement.name, "", "is not installed"
        elif not requirement.specifier.contains(version, prereleases=True):
            yield requirement.name, version, f"{version} is installed, {requirement.specifier} is needed"
        else:
            yield requirement.name, version, None


def _gpu(machine: Machine) -> Check:
    torch = machine.package("torch")
    smi = machine.which("nvidia-smi")
    cards = []
    if smi:
        answer = machine.run([smi, "--query-gpu=name", "--format=csv,noheader"])
        cards = answer.output.splitlines() if answer.ok else []
    if not cards:
        detail = "no NVIDIA GPU found; networks run on the CPU"
        return Check("gpu", CheckStatus.MISSING, detail, required=False)
    detail = ", ".join(cards)
    if torch is not None and torch.endswith("+cpu"):
        index = "<the CUDA index of pytorch.org for your driver>"
        fix = f"{machine.executable} -m pip install --force-reinstall torch --index-url {index}"
        if machine.checkout:
            fix = f"make venv TORCH=torch TORCH_INDEX={index}"
        detail += f"; but torch {torch} can't use it"
        return Check("gpu", CheckStatus.WARN, detail, fix, required=False)
    return Check("gpu", CheckStatus.OK, detail, required=False)
