"""A request becomes a plan, its questions, one approval, and runs; nothing else happens on the way."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.events import AnswerTaken, EndReason, QuestionAsked, RunsCreated
from core.json_value import JsonObject
from core.messages.message import message
from core.questions import Option, QuestionDraft, QuestionKind
from state.records import PlanStatus
from tests.agent.talk import Talk
from tests.fakes.model import calls, cite_all, text, torso

FULL = "Create an EKS cluster called llama with 8 on-demand p5.48xlarge in usw2-az2"


def choice(talk: Talk, kind: str) -> JsonObject:
    found = talk.nodes[0].choices[kind]
    assert isinstance(found, dict)
    return found


def test_a_full_request_goes_straight_to_its_approval(talk: Talk) -> None:
    talk.send(FULL, cite_all("propose_create_cluster", name="llama", orchestrator="Eks"))

    assert talk.ended is EndReason.WAITING
    assert talk.asked.kind is QuestionKind.APPROVAL
    assert talk.runs == []


def test_approving_creates_the_runs_of_the_plan_once(talk: Talk) -> None:
    talk.send(FULL, cite_all("propose_create_cluster", name="llama"))
    talk.answer("approve")
    talk.resume()

    [run] = talk.runs
    assert (run.workflow, run.cluster, run.params["count"]) == ("create_cluster", "llama", 8)
    assert talk.of(RunsCreated)[0].run_ids == (run.id,)
    assert talk.ended is EndReason.APPROVED

    talk.resume()
    assert len(talk.runs) == 1


def test_the_zone_is_asked_when_it_was_not_said(talk: Talk) -> None:
    talk.send(
        "Create a cluster called llama with 8 on-demand p5.48xlarge", cite_all("propose_create_cluster", name="llama")
    )
    assert talk.asked.kind is QuestionKind.AVAILABILITY_ZONE

    talk.send("az2")

    assert talk.of(AnswerTaken)[0].question.answer == "usw2-az2"
    assert [event.question.kind for event in talk.of(QuestionAsked)] == [QuestionKind.APPROVAL]
    assert choice(talk, "availability_zone")["origin"] == "answered"


def test_words_approve_and_words_reject(talk: Talk) -> None:
    talk.send(FULL, cite_all("propose_create_cluster", name="llama"))
    talk.send("no")

    assert talk.plans[0].status is PlanStatus.REJECTED

    talk.send(FULL, cite_all("propose_create_cluster", name="llama"))
    talk.send("go ahead")

    assert talk.ended is EndReason.APPROVED
    assert len(talk.runs) == 1


def test_choices_that_the_model_leaves_open_are_asked_one_after_another(talk: Talk) -> None:
    talk.send("Create a cluster called llama", calls(("propose_create_cluster", {"name": "llama"})))
    kinds = [talk.asked.kind]
    for words in ("the second", "p5.48xlarge", "6 nodes on demand", "yes"):
        talk.send(words)
        kinds += [event.question.kind for event in talk.of(QuestionAsked)]

    assert kinds == ["availability_zone", "instance_type", "capacity", "approval"]
    [run] = talk.runs
    assert run.params == {
        "name": "llama",
        "zone": "usw2-az2",
        "type": "ml.p5.48xlarge",
        "count": 6,
        "mode": "on_demand",
    }


def test_a_name_that_nobody_said_is_asked(talk: Talk) -> None:
    talk.send("Create a cluster", calls(("propose_create_cluster", {"name": "my-new-cluster"})))
    assert talk.asked.field == "name"

    talk.send("call it llama")

    assert talk.nodes[0].params == {"name": "llama"}


def test_a_correction_during_the_approval_voids_it_and_asks_again(talk: Talk) -> None:
    talk.send(FULL, cite_all("propose_create_cluster", name="llama"))
    first = talk.asked

    talk.send("no, make it 4", cite_all("propose_create_cluster", replaces=True))

    assert talk.asked.id != first.id
    assert choice(talk, "capacity")["value"] == {"mode": "on_demand", "count": 4, "plan": None}
    assert choice(talk, "availability_zone")["value"] == "usw2-az2"
    assert len(talk.plans) == 1
    assert [question.id for question in talk.open_questions] == [talk.asked.id]


def test_a_choice_taken_back_is_asked_again(talk: Talk) -> None:
    talk.send(FULL, cite_all("propose_create_cluster", name="llama"))
    talk.send("please not in usw2-az2", cite_all("propose_create_cluster", replaces=True))

    assert talk.asked.kind is QuestionKind.AVAILABILITY_ZONE


def test_two_goals_become_one_plan_with_a_dependency(talk: Talk) -> None:
    talk.submit.clusters = ["base"]
    talk.send(
        FULL + " and run job s1 on 2 nodes of it",
        calls(
            (
                "propose_create_cluster",
                {
                    "name": "llama",
                    "availability_zone": "zone-1-1",
                    "instance_type": "type-1-1",
                    "capacity": "capacity-1-1",
                },
            ),
            ("propose_submit_job", {"cluster": "llama", "name": "s1", "nodes": 2}),
        ),
    )
    talk.send("yes")

    create, submit = sorted(talk.runs, key=lambda run: run.workflow)
    assert (create.depends_on, submit.depends_on) == ((), (create.id,))
    assert submit.params == {"cluster": "llama", "name": "s1", "nodes": 2}


def test_a_job_written_before_its_cluster_waits_for_it_all_the_same(talk: Talk) -> None:
    talk.send(
        FULL + " and run job s1 on 2 nodes of it",
        calls(
            ("propose_submit_job", {"cluster": "llama", "name": "s1", "nodes": 2}),
            (
                "propose_create_cluster",
                {
                    "name": "llama",
                    "availability_zone": "zone-1-1",
                    "instance_type": "type-1-1",
                    "capacity": "capacity-1-1",
                },
            ),
        ),
    )
    talk.send("yes")

    create, submit = sorted(talk.runs, key=lambda run: run.workflow)
    assert submit.depends_on == (create.id,)


def test_a_refusal_is_said_with_its_remedies_and_a_correction_goes_on_from_there(talk: Talk) -> None:
    talk.create.taken = ["llama"]
    talk.send(FULL, cite_all("propose_create_cluster", name="llama"))
    assert talk.ended is EndReason.REFUSED
    assert "llama exists" in talk.sentences
    assert talk.open_questions == []

    talk.send("then call it llama2", cite_all("propose_create_cluster", name="llama2", replaces=True))

    assert talk.asked.kind is QuestionKind.APPROVAL
    assert len(talk.plans) == 1


def test_a_new_goal_after_a_refusal_leaves_the_refused_plan_behind(talk: Talk) -> None:
    talk.create.taken, talk.submit.clusters = ["llama"], ["base"]
    talk.send(FULL, cite_all("propose_create_cluster", name="llama"))

    talk.send("run a job on 2 nodes of base", calls(("propose_submit_job", {"cluster": "base", "nodes": 2})))

    assert talk.asked.kind is QuestionKind.APPROVAL
    assert [plan.status for plan in talk.plans] == [PlanStatus.PROPOSED, PlanStatus.WITHDRAWN]


def test_a_question_about_the_state_is_answered_without_a_plan(talk: Talk) -> None:
    talk.send("which clusters are there?", calls(("list_clusters", {})), text("There is one: base."))

    assert talk.sentences == ["There is one: base."]
    assert talk.plans == []
    assert '"base"' in str(talk.model.seen[-1][-1]["content"])


def test_a_question_beside_an_open_approval_leaves_it_open(talk: Talk) -> None:
    talk.send(FULL, cite_all("propose_create_cluster", name="llama"))
    approval = talk.asked

    talk.send("what does HyperPod cost?", text("That depends."))

    assert talk.asked == approval
    assert talk.ended is EndReason.WAITING
    talk.send("yes")
    assert len(talk.runs) == 1


def test_a_withdrawn_plan_leaves_nothing_open(talk: Talk) -> None:
    talk.send(FULL, cite_all("propose_create_cluster", name="llama"))
    talk.send("forget about that plan please", calls(("withdraw_plan", {})))

    assert talk.plans[0].status is PlanStatus.WITHDRAWN
    assert talk.open_questions == []


def test_an_answer_given_elsewhere_is_taken_before_the_next_message(talk: Talk) -> None:
    talk.send(
        "Create a cluster called llama with 8 on-demand p5.48xlarge", cite_all("propose_create_cluster", name="llama")
    )
    talk.answer("availability_zone-usw2-az1")

    talk.send("and make it 4 nodes", cite_all("propose_create_cluster", replaces=True))

    assert choice(talk, "availability_zone")["value"] == "usw2-az1"
    assert talk.asked.kind is QuestionKind.APPROVAL


def test_an_answer_to_a_list_that_was_drawn_again_is_refused(talk: Talk) -> None:
    talk.send(
        "Create a cluster called llama with 8 on-demand p5.48xlarge", cite_all("propose_create_cluster", name="llama")
    )
    shown = talk.asked
    draw_again(talk)

    talk.send("1")

    assert talk.repository.get_question(shown.id).answer is None
    assert talk.asked.options_version == 2
    talk.send("1")
    assert choice(talk, "availability_zone")["value"] == "usw2-az3"


def draw_again(talk: Talk) -> None:
    """Another channel has looked at the plan again, and the list has got a new first entry."""
    shown = talk.asked
    fresh = Option(id="fresh", value="usw2-az3", label=message("general.text", text="usw2-az3"))
    draft = QuestionDraft(name=shown.name, kind=shown.kind, prompt=shown.prompt, options=(fresh, *shown.options))
    talk.repository.ask(draft, conversation_id=talk.conversation_id, plan_id=shown.plan_id)


@pytest.mark.parametrize("words", ["usw2-az9", "p5.48xlarge in usw2-az2 or usw2-az1"])
def test_what_is_no_option_changes_nothing(talk: Talk, words: str) -> None:
    talk.send(
        "Create a cluster called llama with 8 on-demand p5.48xlarge", cite_all("propose_create_cluster", name="llama")
    )

    talk.send(words, text("I do not understand."))

    assert talk.asked.kind is QuestionKind.AVAILABILITY_ZONE
    assert "availability_zone" not in talk.nodes[0].choices


def test_an_expired_approval_counts_as_no(talk: Talk) -> None:
    talk.send(FULL, cite_all("propose_create_cluster", name="llama"))
    talk.clock.skip(timedelta(hours=25))
    talk.resume()

    assert talk.ended is EndReason.REJECTED
    assert talk.plans[0].status is PlanStatus.REJECTED
    assert talk.runs == []


def test_torsos_and_bad_calls_are_repaired_twice_and_then_given_up(talk: Talk) -> None:
    bad = calls(("propose_create_cluster", "{broken"), ("invented_tool", {}))
    talk.send("Create a cluster", torso(), bad, bad)

    assert talk.ended is EndReason.STOPPED
    assert len(talk.model.seen) == 3
    assert talk.plans == []


def test_a_repaired_call_goes_on(talk: Talk) -> None:
    talk.send(FULL, calls(("propose_create_cluster", {"name": 7})), cite_all("propose_create_cluster", name="llama"))

    assert talk.asked.kind is QuestionKind.APPROVAL
    assert "wrong arguments" in str(talk.model.seen[-1][-1]["content"])


@pytest.mark.parametrize("cited", ["zone-1-2", "zone-9-1", "usw2-az2", 3])
def test_an_id_that_is_not_on_offer_is_no_choice(talk: Talk, cited: str | int) -> None:
    talk.send(
        "Create a cluster called llama in usw2-az1 or usw2-az2",
        calls(("propose_create_cluster", {"name": "llama", "availability_zone": cited})),
        calls(("propose_create_cluster", {"name": "llama"})),
    )

    assert talk.asked.kind is QuestionKind.AVAILABILITY_ZONE


def test_two_zones_for_one_cluster_are_no_choice_even_when_one_is_cited(talk: Talk) -> None:
    talk.send(
        "Create a cluster called llama in usw2-az1. The data goes to usw2-az2.",
        cite_all("propose_create_cluster", name="llama"),
    )

    assert talk.asked.kind is QuestionKind.AVAILABILITY_ZONE


def test_what_an_earlier_goal_said_is_stale(talk: Talk) -> None:
    talk.send(FULL, cite_all("propose_create_cluster", name="llama"))
    talk.send("yes")

    talk.send("Create another one called foo with 2 spot g5.12xlarge", cite_all("propose_create_cluster", name="foo"))

    assert talk.asked.kind is QuestionKind.AVAILABILITY_ZONE


@pytest.mark.parametrize(("words", "said"), [("x" * 100_000, "longer"), ("   ", "empty")])
def test_a_message_that_cannot_be_taken_leaves_no_trace(talk: Talk, words: str, said: str) -> None:
    talk.send(words)

    assert said in talk.sentences[0]
    assert talk.repository.list_transcript(talk.conversation_id) == []
    assert talk.model.seen == []


def test_an_unreachable_model_is_said_and_the_next_message_works(talk: Talk) -> None:
    talk.send(FULL)
    assert talk.ended is EndReason.STOPPED and "cannot be reached" in talk.sentences[0]

    talk.send(FULL, cite_all("propose_create_cluster", name="llama"))
    assert talk.asked.kind is QuestionKind.APPROVAL


def test_looking_without_end_runs_into_the_budget(talk: Talk) -> None:
    talk.send("which clusters are there?", *[calls(("list_clusters", {}))] * 20)

    assert talk.ended is EndReason.STOPPED
    assert len(talk.model.seen) == 8
