"""Bearer tokens for an EKS API server: a presigned STS request that says who calls, made without a call.

Format as `aws eks get-token` makes it: `k8s-aws-v1.` and the URL in base64url without padding. The signature
is good for 60 seconds when the API server first checks it, the token for 15 minutes.
"""

from __future__ import annotations

import base64
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, Final

import boto3
from botocore.config import Config

from core.clock import Clock

TOKEN_PREFIX: Final = "k8s-aws-v1."
_CLUSTER_HEADER: Final = "x-k8s-aws-id"
_URL_SECONDS: Final = 60
_KEPT_FOR: Final = timedelta(minutes=10)
"""Well before the API server would stop taking it."""


class EksTokens:
    """The current token of each cluster, made again before it expires."""

    def __init__(self, session: boto3.Session, *, region: str, endpoint_url: str | None, clock: Clock) -> None:
        config = Config(ignore_configured_endpoint_urls=True)
        self._client: Any = session.client("sts", region_name=region, endpoint_url=endpoint_url, config=config)
        self._client.meta.events.register("provide-client-params.sts.GetCallerIdentity", _take_cluster)
        self._client.meta.events.register("before-sign.sts.GetCallerIdentity", _put_header)
        self._clock, self._lock = clock, Lock()
        self._made: dict[str, tuple[datetime, str]] = {}

    def token(self, eks_cluster_name: str) -> str:
        now = self._clock.now()
        with self._lock:
            made_at, token = self._made.get(eks_cluster_name, (now, ""))
            if not token or not timedelta() <= now - made_at < _KEPT_FOR:
                token = self._sign(eks_cluster_name)
                self._made[eks_cluster_name] = (now, token)
            return token

    def forget(self, eks_cluster_name: str) -> None:
        """After the API server refused it: the next token is a fresh one."""
        with self._lock:
            self._made.pop(eks_cluster_name, None)

    def _sign(self, eks_cluster_name: str) -> str:
        url: str = self._client.generate_presigned_url(
            "get_caller_identity",
            Params={"ClusterName": eks_cluster_name},
            ExpiresIn=_URL_SECONDS,
            HttpMethod="GET",
        )
        return TOKEN_PREFIX + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


def _take_cluster(params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
    """The cluster's name is no parameter of the STS call: it travels to the signer beside it."""
    if "ClusterName" in params:
        context["eks_cluster"] = params.pop("ClusterName")


def _put_header(request: Any, **_: Any) -> None:
    if "eks_cluster" in request.context:
        request.headers[_CLUSTER_HEADER] = request.context["eks_cluster"]
