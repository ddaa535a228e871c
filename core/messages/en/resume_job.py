"""Texts of resume_job."""

TEXTS: dict[str, str] = {
    "resume_job.title": "Resume a job",
    "resume_job.step_resume": "Let the job run",
    "resume_job.card_what": "Resume the job {job} ({namespace}) on {name} with {before} node(s), from its newest checkpoint",
}
