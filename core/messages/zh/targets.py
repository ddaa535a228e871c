"""Texts about which cluster is meant."""

TEXTS: dict[str, str] = {
    "targets.which_cluster": "指的是哪个集群？",
    "targets.existing": "{name}",
    "targets.planned": "{name}（由本计划先行创建）",
    "targets.cluster_unknown": "没有名为 {name!r} 的集群。",
    "targets.known_clusters": "现有集群：{names}。",
    "targets.no_clusters": "该账户在此区域没有集群。",
    "targets.only_eks": "{name} 由 Slurm 编排；此操作仅适用于 EKS 集群。",
    "targets.wrong_status": "{name} 的状态是 {status}，而不是 InService。",
}
