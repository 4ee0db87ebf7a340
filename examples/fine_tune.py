"""Go on training from a checkpoint through the service, wait for the end, and let the result answer.

python examples/fine_tune.py --url http://127.0.0.1:8000 --checkpoint first/final_model.pt --steps 20000
"""

from __future__ import annotations

import argparse
import os
import time

import requests


def main(url: str, checkpoint: str, steps: int, switch: bool) -> None:
    client = requests.Session()
    if token := os.environ.get("OPERANT_TOKEN"):
        client.headers["Authorization"] = f"Bearer {token}"
    body = {"total_timesteps": steps, "resume": checkpoint}
    answer = client.post(f"{url}/api/v1/training/start", json=body, timeout=60)
    if not answer.ok:
        raise SystemExit(answer.json()["message"])
    run = answer.json()["id"]
    print("run:", run)
    while True:
        said = client.get(f"{url}/api/v1/training/runs/{run}", timeout=60).json()
        latest = said["run"]["latest"] or {}
        print("step", latest.get("step"), "success rate", latest.get("success_rate"), flush=True)
        if not said["running"]:
            break
        time.sleep(1.0)
    print("ended:", said["run"]["state"], said["run"]["checkpoints"])
    if switch and said["run"]["checkpoints"]:
        name = f"{run}/{said['run']['checkpoints'][-1]}"
        client.post(f"{url}/api/v1/agent/models", json={"name": name}, timeout=300).raise_for_status()
        print("now answers:", name)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--checkpoint", required=True, help="as GET /api/v1/agent/models lists it")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--switch", action="store_true", help="let the result answer from then on")
    asked = parser.parse_args()
    main(asked.url, asked.checkpoint, asked.steps, asked.switch)
