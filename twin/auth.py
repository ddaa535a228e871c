"""Who may talk to the twin: whoever knows its token, which is also the AWS access key id.

Signatures are not verified (there is no secret behind the token); what counts is that no request of another
origin, of a real account or of a stray tool, is taken for one of ours.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

_CREDENTIAL = re.compile(r"Credential=([^/,\s]+)/\d{8}/([^/,\s]+)/([^/,\s]+)/aws4_request")
_PRESIGNED = re.compile(r"([^/]+)/\d{8}/([^/]+)/([^/]+)/aws4_request")
EKS_TOKEN_PREFIX = "k8s-aws-v1."


@dataclass(frozen=True, slots=True)
class Scope:
    """What a SigV4 credential names."""

    access_key: str
    region: str
    service: str


def signed_scope(headers: Mapping[str, str], query: str) -> Scope | None:
    """From the Authorization header or a presigned query; `None` for an unsigned request."""
    found = _CREDENTIAL.search(headers.get("authorization", ""))
    if found is None:
        found = _PRESIGNED.fullmatch(parse_qs(query).get("X-Amz-Credential", [""])[0])
    return Scope(*found.groups()) if found is not None else None


def bearer(headers: Mapping[str, str]) -> str:
    """The bearer token, empty without one."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    return value.strip() if scheme.lower() == "bearer" else ""


def access_key_behind(token: str) -> str:
    """The credential of an EKS token (`k8s-aws-v1.` and a presigned STS URL), else the token itself."""
    if not token.startswith(EKS_TOKEN_PREFIX):
        return token
    encoded = token.removeprefix(EKS_TOKEN_PREFIX)
    try:
        url = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    scope = signed_scope({}, urlsplit(url).query)
    return scope.access_key if scope is not None else ""
