"""Texts of resize_job."""

TEXTS: dict[str, str] = {
    "resize_job.title": "Resize a job",
    "resize_job.step_resize": "Change the number of nodes",
    "resize_job.card_what": "Resize the job {job} ({namespace}) on {name} from {before} to {after} node(s); it restarts from its newest checkpoint",
}
