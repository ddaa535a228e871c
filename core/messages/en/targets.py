"""Texts about which cluster is meant."""

TEXTS: dict[str, str] = {
    "targets.which_cluster": "Which cluster is meant?",
    "targets.existing": "{name}",
    "targets.planned": "{name} (made earlier in this plan)",
    "targets.cluster_unknown": "There is no cluster named {name!r}.",
    "targets.known_clusters": "Clusters here: {names}.",
    "targets.no_clusters": "There is no cluster in this account and region.",
    "targets.only_eks": "{name} is orchestrated by Slurm; this works on EKS clusters only.",
    "targets.wrong_status": "{name} is {status}, not InService.",
}
