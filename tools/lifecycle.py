"""Lifecycle scripts in S3: what HyperPod runs on each node while it is set up."""

from __future__ import annotations

import hashlib
from typing import Final

from core.json_value import JsonObject
from core.risk import Risk
from tools.arguments import ByName
from tools.clients.base import Clients
from tools.contract import Absent, CannotTell, EffectTool, Found, Intent, Observation, ReadTool
from tools.errors import RejectedByPlatform, TargetNotFound
from tools.ownership import PartArgs, name_of_others
from tools.reading import text

ON_CREATE: Final = "on_create.sh"
SCRIPT: Final = """\
#!/bin/bash
# Runs once on each node of an EKS-orchestrated HyperPod cluster, before it joins.
# HyperPod's image has what a node needs: put here what yours need besides, and end with 0.
set -euo pipefail
echo "[on_create] $(date --iso-8601=seconds) nothing to add on $(hostname)"
"""


class BucketArgs(PartArgs):
    bucket: str


class ScriptArgs(PartArgs):
    bucket: str
    key: str
    content: str


class ObjectArgs(PartArgs):
    bucket: str
    key: str


def bucket_name(account: str, region: str) -> str:
    """One bucket per account and region. AWS's managed policy lets nodes read `sagemaker-` buckets only."""
    return f"sagemaker-muster-{account}-{region}"


def script_prefix(cluster: str) -> str:
    """Where a cluster's scripts lie: beside their digest, so that changed scripts never replace running ones."""
    return f"clusters/{cluster}/{hashlib.sha256(SCRIPT.encode()).hexdigest()[:12]}"


def script_keys(clients: Clients, bucket: str, cluster: str) -> list[str]:
    """Keys of a cluster's scripts; none without the bucket."""
    query: JsonObject = {"Bucket": bucket, "Prefix": f"clusters/{cluster}/"}
    try:
        return [text(row, "Key") for row in clients.aws.pages("s3", "ListObjectsV2", query, "Contents")]
    except TargetNotFound:
        return []


def _create_bucket(clients: Clients, args: BucketArgs, token: str) -> JsonObject:
    place: JsonObject = (
        {}
        if clients.aws.region == "us-east-1"
        else {"CreateBucketConfiguration": {"LocationConstraint": clients.aws.region}}
    )
    clients.aws.call("s3", "CreateBucket", {"Bucket": args.bucket, **place})
    return {}


def _has_bucket(clients: Clients, args: BucketArgs, intent: Intent) -> Observation:
    """A bucket that answers us is ours: names are unique in the world, and others' answer 403."""
    try:
        clients.aws.call("s3", "HeadBucket", {"Bucket": args.bucket})
    except TargetNotFound:
        return Absent()
    except RejectedByPlatform:
        return CannotTell(name_of_others("S3 bucket", args.bucket))
    return Found({})


def _put(clients: Clients, args: ScriptArgs, token: str) -> JsonObject:
    params: JsonObject = {
        "Bucket": args.bucket,
        "Key": args.key,
        "Body": args.content,
        "Metadata": {"muster-cluster": args.cluster},
    }
    clients.aws.call("s3", "PutObject", params)
    return {}


def read_object(clients: Clients, bucket: str, key: str) -> str | None:
    try:
        return text(clients.aws.call("s3", "GetObject", {"Bucket": bucket, "Key": key}), "Body")
    except TargetNotFound:
        return None


def _has_script(clients: Clients, args: ScriptArgs, intent: Intent) -> Observation:
    return Found({}) if read_object(clients, args.bucket, args.key) == args.content else Absent()


def _delete_object(clients: Clients, args: ObjectArgs, token: str) -> JsonObject:
    clients.aws.call("s3", "DeleteObject", {"Bucket": args.bucket, "Key": args.key})
    return {}


def _lacks_object(clients: Clients, args: ObjectArgs, intent: Intent) -> Observation:
    return Found({}) if read_object(clients, args.bucket, args.key) is None else Absent()


def _bucket_exists(clients: Clients, args: ByName) -> bool:
    try:
        clients.aws.call("s3", "HeadBucket", {"Bucket": args.name})
    except TargetNotFound:
        return False
    return True


HAS_BUCKET: Final[ReadTool[ByName, bool]] = ReadTool(name="has_bucket", read=_bucket_exists)

CREATE_BUCKET: Final[EffectTool[BucketArgs]] = EffectTool(
    name="create_bucket", call="s3:CreateBucket", risk=Risk.REVERSIBLE, act=_create_bucket, observe=_has_bucket
)
PUT_SCRIPT: Final[EffectTool[ScriptArgs]] = EffectTool(
    name="put_script", call="s3:PutObject", risk=Risk.REVERSIBLE, act=_put, observe=_has_script
)
DELETE_OBJECT: Final[EffectTool[ObjectArgs]] = EffectTool(
    name="delete_object", call="s3:DeleteObject", risk=Risk.DESTRUCTIVE, act=_delete_object, observe=_lacks_object
)
