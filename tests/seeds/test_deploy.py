"""What docs/deploy.md hands to clouds, clusters and Docker: checked by the programs that read it, run where that can be."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml

from operant.config.vlm_training import VLMTrainingConfig

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE = ROOT / "docker" / "docker-compose.yml"
STARTUP = DEPLOY / "desktop-vm-startup.sh"
SLURM = DEPLOY / "slurm.sbatch"
TOKEN = "0123456789abcdef0123456789"


def comments(path: Path) -> str:
    return "\n".join(line for line in path.read_text().splitlines() if line.startswith("#"))


# Ray's cluster launcher: Google Cloud and AWS


@pytest.fixture(params=["ray-gcp.yaml", "ray-aws.yaml"])
def launcher_file(request: pytest.FixtureRequest) -> Path:
    return DEPLOY / request.param


def prepared(config: dict[str, Any]) -> dict[str, Any]:
    from ray.autoscaler._private.util import prepare_config, validate_config

    whole = prepare_config(config)
    validate_config(whole)
    return whole


def test_ray_takes_the_files_for_its_cluster_launcher(launcher_file: Path) -> None:
    """002, "GCP Setup Guide", and 001, "AWS": a cluster from one file, as Ray checks it before `ray up`."""
    whole = prepared(yaml.safe_load(launcher_file.read_text()))
    assert set(whole["available_node_types"]) == {"head", "desktops", "gpus"}
    commands = [line for key, lines in whole.items() if key.endswith("_commands") for line in lines]
    assert any("--autoscaling-config=~/ray_bootstrap_config.yaml" in line for line in commands)
    for command in commands:
        subprocess.run(["bash", "-n", "-c", command], check=True)


@pytest.mark.parametrize(
    "mistake",
    [{"setup_command": []}, {"head_node_type": "nobody"}, {"max_workers": 1}, {"max_workers": "ten"}],
)
def test_those_checks_find_mistakes(launcher_file: Path, mistake: dict[str, Any]) -> None:
    import jsonschema

    with pytest.raises((ValueError, jsonschema.ValidationError)):
        prepared({**yaml.safe_load(launcher_file.read_text()), **mistake})


def test_their_commands_are_options_that_ray_has(launcher_file: Path) -> None:
    from ray.scripts.scripts import start

    config = yaml.safe_load(launcher_file.read_text())
    for key in ("head_start_ray_commands", "worker_start_ray_commands"):
        line = config[key][-1].partition("ray start ")[2]
        start.make_context("start", line.split())  # an unknown option is an error


def test_their_run_fits_the_machines(launcher_file: Path) -> None:
    """Operant refuses a run for which the cluster is too small at its start, and does not wait for more machines."""
    named = re.search(r"--config operant/(\S+)", comments(launcher_file))
    assert named is not None
    changed = re.findall(r"--set (\S+)", comments(launcher_file))
    assert "cluster.learner_gpus=1" in changed
    cluster = VLMTrainingConfig.load(ROOT / named[1], assignments=changed).cluster
    kinds = yaml.safe_load(launcher_file.read_text())["available_node_types"].values()
    at_start = [kind["resources"] for kind in kinds for _ in range(kind.get("min_workers", 0))]
    assert cluster.cpus <= sum(resources["CPU"] for resources in at_start)
    assert cluster.gpus <= sum(resources.get("GPU", 0) for resources in at_start)


# Kubernetes


def ray_job() -> dict[str, Any]:
    job: dict[str, Any]
    _, job = yaml.safe_load_all((DEPLOY / "kuberay.yaml").read_text())
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    return job


def test_the_pods_of_kuberay_have_what_they_mount_and_what_desktops_need() -> None:
    """002, "Distributed Setup", on Kubernetes. (docs/deploy.md says how the file was held against KubeRay's schema.)"""
    cluster = ray_job()["spec"]["rayClusterSpec"]
    groups = {group["groupName"]: group for group in cluster["workerGroupSpecs"]}
    assert set(groups) == {"desktops", "gpus"}
    claim, _ = yaml.safe_load_all((DEPLOY / "kuberay.yaml").read_text())
    for group in (cluster["headGroupSpec"], *groups.values()):
        pod = group["template"]["spec"]
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        assert volumes["data"]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
        (container,) = pod["containers"]
        assert {mount["name"] for mount in container["volumeMounts"]} == set(volumes)
        assert pod["securityContext"]["runAsUser"] == 10001  # the image's user
    pod = groups["desktops"]["template"]["spec"]
    assert pod["hostUsers"] is False
    allowed = pod["containers"][0]["securityContext"]
    assert allowed["seccompProfile"] == allowed["appArmorProfile"] == {"type": "Unconfined"}
    assert allowed["procMount"] == "Unmasked"


def test_the_run_of_kuberay_fits_its_pods() -> None:
    spec = ray_job()["spec"]
    named = re.search(r"--from-file=train.yaml=(\S+)", comments(DEPLOY / "kuberay.yaml"))
    assert named is not None
    cluster = VLMTrainingConfig.load(ROOT / named[1]).cluster
    cpus = gpus = 0.0
    for group in spec["rayClusterSpec"]["workerGroupSpecs"]:
        cpus += group["replicas"] * float(group["rayStartParams"]["num-cpus"])
        gpus += group["replicas"] * float(group["rayStartParams"].get("num-gpus", 0))
    assert (cluster.cpus <= cpus, cluster.gpus <= gpus) == (True, True)
    words = spec["entrypoint"].split()
    assert words[:3] == ["operant", "train", "vlm"]
    assert words[words.index("--cluster") + 1] == "auto"


# Slurm

# Stands for Slurm on one machine: a step is a process here, and both nodes are this one.
SRUN = """#!/bin/sh
while case ${1:-} in --*) true ;; *) false ;; esac; do shift; done
if [ "$1" = hostname ]; then echo 127.0.0.1; exit; fi
exec "$@"
"""
SCONTROL = "#!/bin/sh\nprintf '127.0.0.1\\n127.0.0.1\\n'\n"
# Stands for the run: joins the cluster as `operant train vlm --cluster auto` does, and tells who is there.
OPERANT = """#!{python}
import json, os, sys
from operant.cluster.ray_connection import connected
from operant.config.cluster import ClusterSettings
import ray
with connected("auto", ClusterSettings()):
    there = {{"args": sys.argv[1:], "nodes": len(ray.nodes()), "cpus": ray.cluster_resources()["CPU"]}}
    print("THERE " + json.dumps(there), flush=True)
sys.exit(int(os.environ.get("TRAINING_ENDS_WITH", "0")))
"""


def slurm(tmp_path: Path, *args: str, **variables: str) -> subprocess.CompletedProcess[str]:
    inside = tmp_path / "venv" / "bin"
    inside.mkdir(parents=True, exist_ok=True)
    for name, text in {
        "srun": SRUN,
        "scontrol": SCONTROL,
        "operant": OPERANT.format(python=sys.executable),
    }.items():
        (inside / name).write_text(text)
        (inside / name).chmod(0o755)
    for name in ("ray", "python"):
        if not (inside / name).exists():
            (inside / name).write_text(f'#!/bin/sh\nexec {Path(sys.executable).parent / name} "$@"\n')
            (inside / name).chmod(0o755)
    return subprocess.run(
        ["bash", str(SLURM), *args],
        env={
            **{name: os.environ[name] for name in ("HOME", "PYTHONPATH") if name in os.environ},
            "PATH": "/usr/bin:/bin",
            "VENV": str(tmp_path / "venv"),
            "SLURM_JOB_ID": str(os.getpid()),
            "SLURM_JOB_NODELIST": "node[1-2]",
            "SLURM_CPUS_PER_TASK": "1",
            "RAY_WAIT_S": "300",  # on a crowded machine a raylet takes a minute
            **variables,
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=650,
    )


@pytest.mark.slow
@pytest.mark.timeout(700)
def test_a_slurm_job_starts_ray_on_its_nodes_and_ends_it(tmp_path: Path) -> None:
    """002, "Distributed Setup", on Slurm: head and worker for real on this machine, only Slurm itself is a stand-in."""
    done = slurm(tmp_path, "--config", "a b.yaml", "--output", "runs/first", TRAINING_ENDS_WITH="3")
    assert done.returncode == 3, done.stdout + done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("THERE ")]
    wanted = ["train", "vlm", "--cluster", "auto", "--config", "a b.yaml", "--output", "runs/first"]
    assert json.loads(line.partition(" ")[2]) == {"args": wanted, "nodes": 2, "cpus": 2.0}
    place = f"/tmp/ray-{os.getpid()}"
    try:
        deadline = time.monotonic() + 30
        while left := [line for line in ps() if place in line]:
            assert time.monotonic() < deadline, left
            time.sleep(0.2)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def ps() -> list[str]:
    return subprocess.run(
        ["ps", "-eo", "args"], capture_output=True, text=True, check=True
    ).stdout.splitlines()


def test_a_slurm_job_without_a_run_says_how(tmp_path: Path) -> None:
    done = slurm(tmp_path)
    assert done.returncode == 1
    assert "hint: sbatch deploy/slurm.sbatch --config FILE" in done.stderr


def test_a_slurm_job_without_ray_says_so(tmp_path: Path) -> None:
    slurm(tmp_path)
    (tmp_path / "venv" / "bin" / "ray").unlink()
    done = slurm_without_ray(tmp_path)
    assert done.returncode == 1
    assert "ray is not on the PATH" in done.stderr


def slurm_without_ray(tmp_path: Path) -> subprocess.CompletedProcess[str]:
    variables = {"PATH": "/usr/bin:/bin", "VENV": str(tmp_path / "venv"), "SLURM_JOB_ID": "1"}
    return subprocess.run(
        ["bash", str(SLURM), "--config", "x"], env=variables, capture_output=True, text=True
    )


# Desktops on virtual machines


def function(name: str) -> str:
    found = re.search(rf"^{name}\(\) \{{.*?^\}}$", STARTUP.read_text(), re.M | re.S)
    assert found is not None
    return found[0]


@pytest.mark.parametrize("script", [STARTUP, SLURM, ROOT / "scripts" / "setup.sh"])
def test_scripts_are_right_by_the_shell(script: Path) -> None:
    shell = script.read_text().partition("\n")[0].rpartition("/")[2]
    subprocess.run([shell, "-n", str(script)], check=True)
    if shutil.which("shellcheck"):  # not everywhere; the shell's own check always is
        subprocess.run(["shellcheck", str(script)], check=True)


def chosen(tmp_path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """What the script takes for OPERANT_PORT."""
    program = "\n".join(
        [
            f"set -eu; on_google=0; SETTINGS={tmp_path / 'desktop.env'}",
            function("fail"),
            function("setting"),
            "setting OPERANT_PORT 8765; echo $OPERANT_PORT",
        ]
    )
    return subprocess.run(
        ["sh", "-c", program], env={"PATH": "/usr/bin:/bin", **variables}, capture_output=True, text=True
    )


def test_settings_of_a_vm_come_from_its_environment_then_the_last_boot(tmp_path: Path) -> None:
    assert chosen(tmp_path).stdout == "8765\n"
    (tmp_path / "desktop.env").write_text("OPERANT_TOKEN=abc\nOPERANT_PORT=9000\n")
    assert chosen(tmp_path).stdout == "9000\n"
    assert chosen(tmp_path, OPERANT_PORT="9001").stdout == "9001\n"
    hostile = chosen(tmp_path, OPERANT_PORT="1\nExecStartPre=/bin/sh")
    assert hostile.returncode == 1
    assert "OPERANT_PORT has characters" in hostile.stderr


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit that the script writes, for the Operant of this checkout."""
    place, settings, file = (
        tmp_path / "operant",
        tmp_path / "desktop.env",
        tmp_path / "operant-desktops.service",
    )
    (place / ".venv" / "bin").mkdir(parents=True)
    command = place / ".venv" / "bin" / "operant"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -c "from operant.cli import main; main()" "$@"\n')
    command.chmod(0o755)
    program = f"set -eu; HOME_DIRECTORY={place}; SETTINGS={settings}; UNIT={file}"
    program += f"; OPERANT_TOKEN={TOKEN} OPERANT_DESKTOPS=1 OPERANT_PORT=0 OPERANT_HOST=127.0.0.1 OPERANT_PROTOCOL=operant\n"
    program += "\n".join([function("write_settings"), function("write_unit"), "write_settings; write_unit"])
    subprocess.run(["sh", "-c", program], check=True)
    assert settings.stat().st_mode & 0o777 == 0o600  # the token is nobody else's
    return file


def test_systemd_takes_the_unit(unit: Path) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd is not installed")
    known = unit.read_text().replace("User=operant", "User=root")  # verify looks the user up
    unit.write_text(known)
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True)
    about_it = [line for line in done.stderr.splitlines() if unit.name in line]
    assert about_it == []


def wait_until_healthy(address: str, seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=5) as answer:
                assert answer.status == 200
                return
        except urllib.error.URLError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


@pytest.mark.x11
@pytest.mark.timeout(300)
def test_the_command_of_the_unit_serves_desktops(unit: Path) -> None:
    """002, "Distributed Setup": a machine that serves desktops, by the very line that systemd would run."""
    settings = dict(line.split("=", 1) for line in (unit.parent / "desktop.env").read_text().splitlines())
    (line,) = re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.M)
    # systemd puts ${NAME} in as one word, whatever it holds.
    words = [re.sub(r"\$\{(\w+)\}", lambda found: settings[found[1]], word) for word in line.split()]
    with subprocess.Popen(words, env={**os.environ, **settings}, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            address = next(
                found[0] for text in server.stderr if (found := re.search(r"http://127\.0\.0\.1:\d+", text))
            )
            wait_until_healthy(address)
            with pytest.raises(urllib.error.HTTPError, match="401"):
                urllib.request.urlopen(f"{address}/v1/about", timeout=20)

            from operant.desktop.remote import RemoteDesktop

            with RemoteDesktop(address, token=TOKEN) as desktop:
                assert desktop.run(["echo", "over there"]).stdout == b"over there\n"
                assert desktop.frame().shape == (800, 1280, 3)
        finally:
            server.terminate()
            server.wait(30)


# Docker


def compose_file() -> dict[str, Any]:
    file: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())
    return file


def test_the_compose_file_is_whole() -> None:
    """000, "Using Docker": `docker-compose -f docker/docker-compose.yml up -d`, API at :8000 and Grafana at :3000."""
    file = compose_file()
    services = file["services"]
    ports = {name: service["ports"] for name, service in services.items()}
    assert ports["api"] == ["127.0.0.1:8000:8000"]
    assert ports["grafana"] == ["127.0.0.1:3000:3000"]
    build = services["api"]["build"]
    dockerfile = (ROOT / "docker" / build["context"] / build["dockerfile"]).read_text()
    assert set(build["args"]) <= set(re.findall(r"^ARG (\w+)", dockerfile, re.M))
    for service in services.values():
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            assert source in file["volumes"] or (ROOT / "docker" / source).is_dir()


def test_prometheus_and_grafana_can_be_started_alone() -> None:
    """000, "Prometheus + Grafana": `docker-compose -f docker/docker-compose.yml up prometheus grafana`."""
    services = compose_file()["services"]
    assert {"prometheus", "grafana"} <= set(services)
    for name in ("prometheus", "grafana"):
        assert "depends_on" not in services[name]


def compose_command() -> list[str] | None:
    """Compose 2, under either of its names."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]):
            done = subprocess.run([*command, "version", "--short"], capture_output=True, text=True)
            if done.returncode == 0 and int(done.stdout.strip().lstrip("v").split(".")[0]) >= 2:
                return command
    return None


def test_compose_itself_takes_the_file() -> None:
    """000, "Using Docker", as Compose reads it."""
    command = compose_command()
    if command is None:
        pytest.skip("Docker Compose 2 is not installed")
    variables = {**os.environ, "OPERANT_TOKEN": TOKEN, "GRAFANA_ADMIN_PASSWORD": "chosen"}
    call = [*command, "-f", str(COMPOSE), "config", "--format", "json"]
    whole = json.loads(subprocess.run(call, env=variables, capture_output=True, check=True).stdout)
    assert set(whole["services"]) == {"api", "prometheus", "grafana", "tensorboard"}
    del variables["OPERANT_TOKEN"]
    refused = subprocess.run(call, env=variables, capture_output=True, text=True)
    assert refused.returncode != 0
    assert "choose a token" in refused.stderr


def test_the_image_installs_what_desktops_need_and_not_what_tests_need() -> None:
    """The Dockerfile and `APT=desktops` cut the list of packages at the same comment, which has to be there."""
    text = (ROOT / "requirements" / "apt.txt").read_text()
    cut = "/^# Programs that tests/,$d"
    assert cut in (ROOT / "docker" / "Dockerfile").read_text()
    assert cut in (ROOT / "scripts" / "setup.sh").read_text()
    kept = subprocess.run(
        ["sed", "-e", cut, "-e", "s/#.*//"], input=text, capture_output=True, text=True, check=True
    )
    packages = kept.stdout.split()
    assert {"bubblewrap", "xvfb", "openbox", "python3-venv"} <= set(packages)
    assert "prometheus" not in packages  # Debian's starts a server of its own


def test_the_guide_names_files_that_there_are() -> None:
    guide = (ROOT / "docs" / "deploy.md").read_text()
    named = set(re.findall(r"(?:deploy|config|docker|scripts)/[\w./-]+\.\w+", guide))
    assert {
        "deploy/ray-gcp.yaml",
        "deploy/ray-aws.yaml",
        "deploy/kuberay.yaml",
        "deploy/slurm.sbatch",
    } <= named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
    assert importlib.util.find_spec("ray") is not None  # `ray up` comes with the extra cluster
