#!/usr/bin/env python3
"""Stands in for VMware's vmrun: answers as the real one does, and keeps the state of one machine in a JSON file.

Written from what VMware documents: a first line that counts, "Error: ..." on stdout with code 255. It was never compared
with a real vmrun.
"""

import json
import os
import sys

STATE = os.environ["VMRUN_STATE"]


def main() -> int:
    words = sys.argv[1:]
    if words[:1] == ["-T"]:
        words = words[2:]
    with open(STATE) as file:
        state = json.load(file)
    command, rest = words[0], words[1:]
    with open(STATE + ".log", "a") as log:
        log.write(" ".join(words) + "\n")
    code, said = answer(state, command, rest)
    with open(STATE, "w") as file:
        json.dump(state, file)
    if said:
        print(said)
    return code


def answer(state: dict, command: str, rest: list) -> tuple:
    if command == "list":
        running = [state["vmx"]] if state["running"] else []
        return 0, "\n".join([f"Total running VMs: {len(running)}", *running])
    if os.path.realpath(rest[0]) != os.path.realpath(state["vmx"]):
        return 255, "Error: The virtual machine cannot be found"
    if command == "listSnapshots":
        return 0, "\n".join([f"Total snapshots: {len(state['snapshots'])}", *state["snapshots"]])
    if command == "revertToSnapshot":
        if rest[1] not in state["snapshots"]:
            return 255, "Error: The snapshot does not exist"
        state["running"] = False
        state["reverts"] += 1
        return 0, ""
    if command == "start":
        state["running"] = True
        return 0, ""
    if command == "getGuestIPAddress":
        if not state["running"]:
            return 255, "Error: The virtual machine is not powered on"
        return 0, state["address"]
    if command == "stop":
        if not state["running"]:
            return 255, "Error: The virtual machine is not powered on: " + rest[0]
        state["running"] = False
        return 0, ""
    return 255, f"Error: Unrecognized command: {command}"


if __name__ == "__main__":
    sys.exit(main())
