"""Joins the topic files of each language into one look-up.

One module per topic under `en/` and `zh/`, each with `TEXTS: dict[str, str]`; keys are
`<topic>.<name>`. A test proves that both languages hold the same keys with the same placeholders.
"""

from __future__ import annotations

from collections.abc import Mapping

from core.messages.en import add_capacity as en_add_capacity
from core.messages.en import agent as en_agent
from core.messages.en import chat as en_chat
from core.messages.en import cli as en_cli
from core.messages.en import create_cluster as en_create_cluster
from core.messages.en import delete_cluster as en_delete_cluster
from core.messages.en import demo as en_demo
from core.messages.en import effects as en_effects
from core.messages.en import general as en_general
from core.messages.en import governance as en_governance
from core.messages.en import health as en_health
from core.messages.en import job_control as en_job_control
from core.messages.en import market as en_market
from core.messages.en import nodes as en_nodes
from core.messages.en import planner as en_planner
from core.messages.en import questions as en_questions
from core.messages.en import reboot_node as en_reboot_node
from core.messages.en import remove_capacity as en_remove_capacity
from core.messages.en import replace_node as en_replace_node
from core.messages.en import resize_job as en_resize_job
from core.messages.en import resume_job as en_resume_job
from core.messages.en import runs as en_runs
from core.messages.en import scheduling as en_scheduling
from core.messages.en import state as en_state
from core.messages.en import stop_job as en_stop_job
from core.messages.en import submit_job as en_submit_job
from core.messages.en import targets as en_targets
from core.messages.en import tools as en_tools
from core.messages.en import workflows as en_workflows
from core.messages.zh import add_capacity as zh_add_capacity
from core.messages.zh import agent as zh_agent
from core.messages.zh import chat as zh_chat
from core.messages.zh import cli as zh_cli
from core.messages.zh import create_cluster as zh_create_cluster
from core.messages.zh import delete_cluster as zh_delete_cluster
from core.messages.zh import demo as zh_demo
from core.messages.zh import effects as zh_effects
from core.messages.zh import general as zh_general
from core.messages.zh import governance as zh_governance
from core.messages.zh import health as zh_health
from core.messages.zh import job_control as zh_job_control
from core.messages.zh import market as zh_market
from core.messages.zh import nodes as zh_nodes
from core.messages.zh import planner as zh_planner
from core.messages.zh import questions as zh_questions
from core.messages.zh import reboot_node as zh_reboot_node
from core.messages.zh import remove_capacity as zh_remove_capacity
from core.messages.zh import replace_node as zh_replace_node
from core.messages.zh import resize_job as zh_resize_job
from core.messages.zh import resume_job as zh_resume_job
from core.messages.zh import runs as zh_runs
from core.messages.zh import scheduling as zh_scheduling
from core.messages.zh import state as zh_state
from core.messages.zh import stop_job as zh_stop_job
from core.messages.zh import submit_job as zh_submit_job
from core.messages.zh import targets as zh_targets
from core.messages.zh import tools as zh_tools
from core.messages.zh import workflows as zh_workflows

_TOPICS: Mapping[str, tuple[Mapping[str, str], ...]] = {
    "en": (
        en_add_capacity.TEXTS,
        en_nodes.TEXTS,
        en_remove_capacity.TEXTS,
        en_reboot_node.TEXTS,
        en_replace_node.TEXTS,
        en_job_control.TEXTS,
        en_stop_job.TEXTS,
        en_resume_job.TEXTS,
        en_resize_job.TEXTS,
        en_agent.TEXTS,
        en_chat.TEXTS,
        en_cli.TEXTS,
        en_create_cluster.TEXTS,
        en_delete_cluster.TEXTS,
        en_demo.TEXTS,
        en_effects.TEXTS,
        en_general.TEXTS,
        en_governance.TEXTS,
        en_health.TEXTS,
        en_market.TEXTS,
        en_planner.TEXTS,
        en_questions.TEXTS,
        en_runs.TEXTS,
        en_scheduling.TEXTS,
        en_state.TEXTS,
        en_submit_job.TEXTS,
        en_targets.TEXTS,
        en_tools.TEXTS,
        en_workflows.TEXTS,
    ),
    "zh": (
        zh_add_capacity.TEXTS,
        zh_nodes.TEXTS,
        zh_remove_capacity.TEXTS,
        zh_reboot_node.TEXTS,
        zh_replace_node.TEXTS,
        zh_job_control.TEXTS,
        zh_stop_job.TEXTS,
        zh_resume_job.TEXTS,
        zh_resize_job.TEXTS,
        zh_agent.TEXTS,
        zh_chat.TEXTS,
        zh_cli.TEXTS,
        zh_create_cluster.TEXTS,
        zh_delete_cluster.TEXTS,
        zh_demo.TEXTS,
        zh_effects.TEXTS,
        zh_general.TEXTS,
        zh_governance.TEXTS,
        zh_health.TEXTS,
        zh_market.TEXTS,
        zh_planner.TEXTS,
        zh_questions.TEXTS,
        zh_runs.TEXTS,
        zh_scheduling.TEXTS,
        zh_state.TEXTS,
        zh_submit_job.TEXTS,
        zh_targets.TEXTS,
        zh_tools.TEXTS,
        zh_workflows.TEXTS,
    ),
}


def _join(topics: tuple[Mapping[str, str], ...]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for topic in topics:
        if doubled := joined.keys() & topic.keys():
            raise ValueError(f"texts defined twice: {sorted(doubled)}")
        joined.update(topic)
    return joined


TEXTS: Mapping[str, Mapping[str, str]] = {language: _join(topics) for language, topics in _TOPICS.items()}
"""language -> key -> text with `{placeholders}`."""
