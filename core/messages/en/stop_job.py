"""Texts of stop_job."""

TEXTS: dict[str, str] = {
    "stop_job.title": "Stop a job",
    "stop_job.step_stop": "Suspend the job",
    "stop_job.step_wait_stopped": "Wait until its pods have ended",
    "stop_job.card_what": "Stop the job {job} ({namespace}) on {name}: its {before} pod(s) end, the job stays and can be resumed",
}
