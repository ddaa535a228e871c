"""Texts about calls to the outside."""

TEXTS: dict[str, str] = {
    "tools.rejected": "{call} was refused ({code}): {raw}",
    "tools.throttled": "{call} was slowed down by the service ({code}); it did not happen and can be tried again.",
    "tools.service_error": "{call} got no usable answer ({code}): {raw}",
    "tools.unreachable": "{call} did not reach the service: {raw}",
    "tools.outcome_unknown": "{call} may or may not have happened ({code}): {raw}",
    "tools.target_not_found": "{call}: there is no such thing ({code}): {raw}",
    "tools.conflict": "{call} cannot be done in the present state ({code}): {raw}",
    "tools.role_not_assumable_yet": "{call}: the new role is not usable yet ({code}): {raw}",
    "tools.request_invalid": "{call} was not sent: {member}: {why}.",
    "tools.loopback_refused": "The endpoint {endpoint} is on this machine, but the profile is production. Set the embedded profile, or allow a local endpoint explicitly.",
    "tools.kubernetes_left_loopback": "The AWS endpoint is local, but the cluster {cluster} has its API server at {endpoint}: refused, so that a local session never reaches a real cluster.",
    "tools.control_plane_not_ready": "The EKS cluster {cluster} has no API endpoint yet (status {status}).",
    "tools.name_of_others": "{noun} {name!r} exists, and Muster did not make it for this cluster.",
    "tools.job_of_others": "A job named {name!r} exists in {namespace}, and this run did not submit it.",
    "tools.job_differs": "The job {name!r} in {namespace} is ours, but it was submitted with another specification.",
    "tools.group_changed_since": "The instance group {group!r} of {cluster!r} no longer looks as it did before this change: somebody else may be changing it.",
    "tools.nodes_not_added": "No node was added to the instance group {group!r}: {code}.",
}
