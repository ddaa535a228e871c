"""Texts of resize_job."""

TEXTS: dict[str, str] = {
    "resize_job.title": "调整作业规模",
    "resize_job.step_resize": "更改节点数",
    "resize_job.card_what": "将 {name} 上的作业 {job}（{namespace}）从 {before} 个节点调整为 {after} 个；从最新检查点重新开始",
}
