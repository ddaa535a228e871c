"""Access entries with their policies, and pod identity associations."""

from __future__ import annotations

from twin.aws.context import Context, Handler
from twin.aws.eks.common import find, pages
from twin.aws.errors import AwsError
from twin.aws.params import Params, Reply
from twin.world.state import Spec, World


def create_access_entry(ctx: Context, params: Params) -> Reply:
    cluster, arn = find(ctx.sim.world, params.text("clusterName")), params.text("principalArn")
    mode = cluster.spec.get("accessConfig", {}).get("authenticationMode", "CONFIG_MAP")
    if mode == "CONFIG_MAP":
        raise AwsError("InvalidRequestException", f"Cluster {cluster.name} does not support access entries ({mode}).")
    if arn in cluster.access_entries:
        raise AwsError(
            "ResourceInUseException",
            "The specified access entry resource is already in use on this cluster.",
            status=409,
        )
    now = ctx.sim.now
    entry: Spec = {
        "clusterName": cluster.name,
        "principalArn": arn,
        "kubernetesGroups": params.texts("kubernetesGroups"),
        "accessEntryArn": ctx.arn("eks", f"access-entry/{cluster.name}/role/{arn.rpartition('/')[2]}/{ctx.sim.hex(8)}"),
        "createdAt": now.timestamp(),
        "modifiedAt": now.timestamp(),
        "tags": params.structure("tags").to_json() or None,
        "username": params.text("username", arn),
        "type": params.text("type", "STANDARD"),
        "policies": [],
    }
    cluster.access_entries[arn] = entry
    return {"accessEntry": _entry(entry)}


def describe_access_entry(ctx: Context, params: Params) -> Reply:
    return {"accessEntry": _entry(_access_entry(ctx.seen, params))}


def list_access_entries(ctx: Context, params: Params) -> Reply:
    cluster = find(ctx.seen, params.text("clusterName"))
    arns, token = pages(sorted(cluster.access_entries), params)
    return {"accessEntries": arns, "nextToken": token}


def delete_access_entry(ctx: Context, params: Params) -> Reply:
    entry = _access_entry(ctx.sim.world, params)
    del find(ctx.sim.world, params.text("clusterName")).access_entries[entry["principalArn"]]
    return {}


def associate_access_policy(ctx: Context, params: Params) -> Reply:
    """Put-like: the same policy again only changes its scope."""
    entry, now = _access_entry(ctx.sim.world, params), ctx.sim.now.timestamp()
    policy: Spec = {
        "policyArn": params.text("policyArn"),
        "accessScope": params.structure("accessScope").to_json(),
        "associatedAt": now,
        "modifiedAt": now,
    }
    entry["policies"] = [p for p in entry["policies"] if p["policyArn"] != policy["policyArn"]] + [policy]
    return {
        "clusterName": entry["clusterName"],
        "principalArn": entry["principalArn"],
        "associatedAccessPolicy": policy,
    }


def list_associated_access_policies(ctx: Context, params: Params) -> Reply:
    entry = _access_entry(ctx.seen, params)
    policies, token = pages(list(entry["policies"]), params)
    return {
        "clusterName": entry["clusterName"],
        "principalArn": entry["principalArn"],
        "associatedAccessPolicies": policies,
        "nextToken": token,
    }


def create_pod_identity_association(ctx: Context, params: Params) -> Reply:
    cluster = find(ctx.sim.world, params.text("clusterName"))
    namespace, account = params.text("namespace"), params.text("serviceAccount")
    token = params.text("clientRequestToken")
    for known in cluster.pod_identities.values():
        if (known["namespace"], known["serviceAccount"]) == (namespace, account):
            if token and known["token"] == token:
                ctx.outcome.took_effect = False
                return {"association": _association(known)}
            raise AwsError(
                "ResourceInUseException", f"Association already exists: {known['associationId']}", status=409
            )
    association_id = f"a-{ctx.sim.short_id(17)}"
    association: Spec = {
        "clusterName": cluster.name,
        "namespace": namespace,
        "serviceAccount": account,
        "roleArn": params.text("roleArn"),
        "associationArn": ctx.arn("eks", f"podidentityassociation/{cluster.name}/{association_id}"),
        "associationId": association_id,
        "createdAt": ctx.sim.now.timestamp(),
        "modifiedAt": ctx.sim.now.timestamp(),
        "token": token,
    }
    cluster.pod_identities[association_id] = association
    return {"association": _association(association)}


def describe_pod_identity_association(ctx: Context, params: Params) -> Reply:
    found = find(ctx.seen, params.text("clusterName")).pod_identities.get(params.text("associationId"))
    if found is None:
        raise AwsError(
            "ResourceNotFoundException", f"Association {params.text('associationId')} not found.", status=404
        )
    return {"association": _association(found)}


def list_pod_identity_associations(ctx: Context, params: Params) -> Reply:
    cluster = find(ctx.seen, params.text("clusterName"))
    members = ("clusterName", "namespace", "serviceAccount", "associationArn", "associationId")
    found = [
        {key: item[key] for key in members}
        for item in cluster.pod_identities.values()
        if params.text("namespace", item["namespace"]) == item["namespace"]
        and params.text("serviceAccount", item["serviceAccount"]) == item["serviceAccount"]
    ]
    chosen, token = pages(found, params)
    return {"associations": chosen, "nextToken": token}


OPERATIONS: dict[str, Handler] = {
    "CreateAccessEntry": create_access_entry,
    "DescribeAccessEntry": describe_access_entry,
    "ListAccessEntries": list_access_entries,
    "DeleteAccessEntry": delete_access_entry,
    "AssociateAccessPolicy": associate_access_policy,
    "ListAssociatedAccessPolicies": list_associated_access_policies,
    "CreatePodIdentityAssociation": create_pod_identity_association,
    "DescribePodIdentityAssociation": describe_pod_identity_association,
    "ListPodIdentityAssociations": list_pod_identity_associations,
}


def _access_entry(world: World, params: Params) -> Spec:
    cluster, arn = find(world, params.text("clusterName")), params.text("principalArn")
    if arn not in cluster.access_entries:
        raise AwsError("ResourceNotFoundException", f"The specified principalArn could not be found: {arn}", status=404)
    return cluster.access_entries[arn]


def _entry(entry: Spec) -> Reply:
    return {key: value for key, value in entry.items() if key != "policies"}


def _association(association: Spec) -> Reply:
    return {key: value for key, value in association.items() if key != "token"}
