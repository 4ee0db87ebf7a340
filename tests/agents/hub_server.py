"""A hub on the loopback that speaks as much of HuggingFace's protocol as pushing, pulling and loading need.

Strict: what it does not know is a 404, pushing needs the token, and gated repositories are refused as the real ones are.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

TOKEN = "hf_test_token"
GATED = "owner/gated"


class Hub:
    """Repositories in memory. A context manager; ``url`` is for HF_ENDPOINT."""

    def __init__(self) -> None:
        self.repos: dict[str, dict[str, bytes]] = {}
        self.private: dict[str, bool] = {}
        self.messages: list[str] = []
        hub = self

        class Handler(_Handler):
            pass

        Handler.hub = hub
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def commit(self, repo: str) -> str:
        parts = sorted(self.repos[repo].items())
        return hashlib.sha1(b"".join(name.encode() + content for name, content in parts)).hexdigest()

    def __enter__(self) -> Hub:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *_: object) -> None: ...

    def _send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _json(self, value: Any, status: int = 200, **headers: str) -> None:
        self._send(status, json.dumps(value).encode(), content_type="application/json", **headers)

    def _refuse(self, status: int, code: str, said: str) -> None:
        self._json({"error": said}, status, x_error_code=code, x_error_message=said)

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding") == "chunked":
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("content-length", 0)))

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if found := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/(revision|tree)/([^/]+))?", path):
            return self._describe(found[1], found[2] == "tree")
        if found := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            return self._file(found[1], found[3])
        return self._refuse(404, "", f"no {path} here")

    do_HEAD = do_GET  # noqa: N815

    def _there(self, repo: str) -> bool:
        if repo == GATED:
            self._refuse(403, "GatedRepo", f"Access to model {repo} is restricted")
            return False
        if repo not in self.hub.repos:
            self._refuse(404, "RepoNotFound", "Repository not found")
            return False
        return True

    def _describe(self, repo: str, tree: bool) -> None:
        if not self._there(repo):
            return None
        files = self.hub.repos[repo]
        if tree:
            listed = [
                {"type": "file", "path": name, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}
                for name, content in files.items()
            ]
            return self._json(listed)
        names = [{"rfilename": name} for name in files]
        return self._json({"id": repo, "modelId": repo, "sha": self.hub.commit(repo), "siblings": names})

    def _file(self, repo: str, name: str) -> None:
        if not self._there(repo):
            return
        content = self.hub.repos[repo].get(name)
        commit = self.hub.commit(repo)
        if content is None:
            self._json({"error": "Entry not found"}, 404, x_error_code="EntryNotFound", x_repo_commit=commit)
            return
        self._send(200, content, etag=f'"{hashlib.sha1(content).hexdigest()}"', x_repo_commit=commit)

    def do_POST(self) -> None:
        path, body = unquote(urlsplit(self.path).path), self._body()
        if path == "/api/validate-yaml":
            return self._json({"errors": [], "warnings": []})
        if self.headers.get("authorization") != f"Bearer {TOKEN}":
            return self._refuse(401, "", "Invalid username or password.")
        if path == "/api/repos/create":
            asked = json.loads(body)
            repo = f"{asked['organization']}/{asked['name']}"
            self.hub.repos.setdefault(repo, {})
            self.hub.private[repo] = asked.get("private") or asked.get("visibility") == "private"
            return self._json({"url": f"{self.hub.url}/{repo}", "name": repo})
        if found := re.fullmatch(r"/api/models/([^/]+/[^/]+)/preupload/main", path):
            listed = [
                {"path": file["path"], "uploadMode": "regular", "shouldIgnore": False}
                for file in json.loads(body)["files"]
            ]
            return self._json({"files": listed})
        if found := re.fullmatch(r"/api/models/([^/]+/[^/]+)/commit/main", path):
            return self._commit(found[1], [json.loads(line) for line in body.splitlines() if line])
        return self._refuse(404, "", f"no {path} here")

    def _commit(self, repo: str, lines: list[dict[str, Any]]) -> None:
        for line in lines:
            if line["key"] == "file":
                self.hub.repos[repo][line["value"]["path"]] = base64.b64decode(line["value"]["content"])
            else:
                self.hub.messages.append(line["value"]["summary"])
        oid = self.hub.commit(repo)
        self._json({"success": True, "commitOid": oid, "commitUrl": f"{self.hub.url}/{repo}/commit/{oid}"})
