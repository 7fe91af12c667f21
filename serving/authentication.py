"""Access to a server that this program starts: every request needs the server's key.

vLLM itself checks the key only for /v1 and similar paths; /tokenize, /invocations, /metrics and
others are open to anyone.
"""

import hashlib
import os
import secrets
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

HEALTH = "/health"
"""The only path that answers without the key: it shows whether the server is up."""


class Authentication:
    """Guards all routes of vLLM's server (`--middleware`); the key is in VLLM_API_KEY.

    Raises:
        KeyError: The key is missing or empty.
    """

    def __init__(self, app: "ASGIApp") -> None:
        key = os.environ["VLLM_API_KEY"]
        if not key:
            raise KeyError("VLLM_API_KEY")
        self._app = app
        self._digest = hashlib.sha256(key.encode()).digest()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Let a request through, or answer 401; a WebSocket is refused in the same way."""
        lifespan = scope["type"] == "lifespan"
        healthy = scope["type"] == "http" and scope["path"] == HEALTH
        if lifespan or healthy or self._has_key(scope):
            await self._app(scope, receive, send)
        else:
            await JSONResponse({"error": {"message": "wrong key"}}, 401)(scope, receive, send)

    def _has_key(self, scope: "Scope") -> bool:
        scheme, _, key = dict(scope["headers"]).get(b"authorization", b"").partition(b" ")
        # Digests have equal length, so the comparison time reveals nothing about the key.
        same = secrets.compare_digest(hashlib.sha256(key).digest(), self._digest)
        return same and bool(scheme.lower() == b"bearer")
