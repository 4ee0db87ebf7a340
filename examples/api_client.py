"""The service from another program, with nothing but ``requests``.

    operant serve --agent oracle &
    python examples/api_client.py --url http://127.0.0.1:8000 --task core/calculator-type-sum-v1

A token, if the service wants one, comes from the environment variable OPERANT_TOKEN.
"""

from __future__ import annotations

import argparse
import os

import requests


def main(url: str, task: str, program: str) -> None:
    client = requests.Session()
    if token := os.environ.get("OPERANT_TOKEN"):
        client.headers["Authorization"] = f"Bearer {token}"

    def call(method: str, path: str, **more: object) -> requests.Response:
        answer = client.request(method, url + path, timeout=120, **more)  # type: ignore[arg-type]
        if not answer.ok:
            problem = answer.json()
            raise SystemExit(f"{problem['code']}: {problem['message']} ({problem['hint']})")
        return answer

    print("model:", call("GET", "/api/v1/agent/model-info").json()["name"])

    # A desktop of one's own: look, act, see what changed.
    session = call("POST", "/api/v1/sessions", json={"launch": [program]}).json()
    try:
        typed = {"action": {"kind": "type", "text": "12"}, "session": session["id"]}
        said = call("POST", "/api/v1/agent/execute", json=typed).json()
        print("typed:", said["description"], "changed:", said["changed"], said["changed_region"])
        picture = call("GET", said["frame"], params={"encoding": "jpeg", "width": 640}).content
        print("picture:", len(picture), "bytes of JPEG")
    finally:
        call("DELETE", f"/api/v1/sessions/{session['id']}")

    # What would be done next? The oracle only does whole tasks, so another model is asked.
    call("POST", "/api/v1/agent/models", json={"name": "random"})
    question = {"instruction": "Open the calculator", "formats": ["pyautogui"]}
    action = call("POST", "/api/v1/agent/predict", json=question).json()
    print("next:", action["action_type"], action["coordinates"], action["formats"])

    # A whole task, judged by its criteria.
    result = call("POST", "/api/v1/agent/complete-task", json={"task_id": task, "model": "oracle"}).json()
    print("task:", result["instruction"])
    print("success:", result["success"], "verified:", result["verified"], "steps:", result["steps_taken"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--task", default="core/calculator-type-sum-v1")
    parser.add_argument("--program", default="galculator")
    asked = parser.parse_args()
    main(asked.url, asked.task, asked.program)
