"""Texts of stop_job."""

TEXTS: dict[str, str] = {
    "stop_job.title": "停止作业",
    "stop_job.step_stop": "挂起作业",
    "stop_job.step_wait_stopped": "等待其 Pod 结束",
    "stop_job.card_what": "停止 {name} 上的作业 {job}（{namespace}）：其 {before} 个 Pod 结束，作业保留并可恢复",
}
