"""Texts of resume_job."""

TEXTS: dict[str, str] = {
    "resume_job.title": "恢复作业",
    "resume_job.step_resume": "让作业运行",
    "resume_job.card_what": "在 {name} 上用 {before} 个节点恢复作业 {job}（{namespace}），从最新检查点继续",
}
