"""Only what the requester says themselves, unquoted and without "not" or "or", is a choice."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.provenance.extract import extract_candidates
from agent.provenance.mentions import Candidate, Standing
from core.choices import ChoiceKind, Origin
from core.json_value import JsonValue

ZONE, TYPE, CAPACITY = ChoiceKind.AVAILABILITY_ZONE, ChoiceKind.INSTANCE_TYPE, ChoiceKind.CAPACITY


def candidates(text: str) -> tuple[Candidate, ...]:
    return extract_candidates(text, sequence=7, region="us-west-2")


def usable(text: str, kind: ChoiceKind) -> list[JsonValue]:
    return [found.choice.value for found in candidates(text) if found.is_usable and found.choice.kind is kind]


def standings(text: str, kind: ChoiceKind) -> list[Standing]:
    return [found.standing for found in candidates(text) if found.choice.kind is kind]


def capacity(count: int | None, mode: str | None = None, plan: str | None = None) -> dict[str, JsonValue]:
    return {"mode": mode, "count": count, "plan": plan}


@pytest.mark.parametrize(
    ("text", "zones"),
    [
        ("create a cluster in eu-west-1", ["eu-west-1"]),
        ("在 ap-northeast-1 建一个集群", ["ap-northeast-1"]),
        ("create a cluster in us-east-1, zone b", ["us-east-1b"]),
        ("create a cluster in us-east-1 az2", ["use1-az2"]),
        ("create a cluster in us-west-2, zone b", ["us-west-2b"]),
        ("create a cluster in us-west-2", []),
        ("create a cluster called my-model-1b", []),
        ("create a cluster called my-cluster-1", []),
    ],
)
def test_another_region_is_not_passed_over(text: str, zones: list[str]) -> None:
    assert usable(text, ZONE) == zones


@pytest.mark.parametrize(
    ("text", "zone", "instance_type", "wanted"),
    [
        (
            "Create an EKS cluster called llama with 8 on-demand p5.48xlarge in usw2-az2",
            "usw2-az2",
            "ml.p5.48xlarge",
            capacity(8, "on_demand"),
        ),
        (
            "I'd like a HyperPod cluster named demo in us-west-2b with eight ml.p5.48xlarge instances on demand.",
            "us-west-2b",
            "ml.p5.48xlarge",
            capacity(8, "on_demand"),
        ),
        (
            "建一个 EKS 集群叫 llama，八台按需 p5.48xlarge，放在 usw2-az2，然后用两个节点跑示例任务",
            "usw2-az2",
            "ml.p5.48xlarge",
            capacity(8, "on_demand"),
        ),
        ("在 ｕｓｗ２－ａｚ２ 建集群，１６台 ｐ５ｅｎ，竞价", "usw2-az2", "ml.p5en.48xlarge", capacity(16, "spot")),
        (
            "用训练计划 plan-a 在az1建集群，四台p4d",
            "usw2-az1",
            "ml.p4d.24xlarge",
            capacity(4, "training_plan", "plan-a"),
        ),
        (
            "Use the Plan-A training plan for a dozen P5E.48XLARGE nodes, AZ USW2-AZ3",
            "usw2-az3",
            "ml.p5e.48xlarge",
            capacity(12, "training_plan", "Plan-A"),
        ),
    ],
)
def test_a_plain_request_gives_zone_type_and_capacity(
    text: str, zone: str, instance_type: str, wanted: JsonValue
) -> None:
    assert usable(text, ZONE) == [zone]
    assert usable(text, TYPE) == [instance_type]
    assert usable(text, CAPACITY) == [wanted]


@pytest.mark.parametrize(
    ("text", "kind", "standing"),
    [
        ("Create a cluster, but not in usw2-az1", ZONE, Standing.NEGATED),
        ("Create a cluster anywhere except usw2-az1", ZONE, Standing.NEGATED),
        ("please don't use p5.48xlarge", TYPE, Standing.NEGATED),
        ("no spot please", CAPACITY, Standing.NEGATED),
        ("usw2-az1 is full, find another", ZONE, Standing.NEGATED),
        ("建集群，不要放在 usw2-az1", ZONE, Standing.NEGATED),
        ("除了 usw2-az1 都可以", ZONE, Standing.NEGATED),
        ("usw2-az1 不行", ZONE, Standing.NEGATED),
        ("别用竞价", CAPACITY, Standing.NEGATED),
        ("maybe in usw2-az1", ZONE, Standing.ALTERNATIVE),
        ("可能在 usw2-az1", ZONE, Standing.ALTERNATIVE),
        ("at least 4 nodes", CAPACITY, Standing.ALTERNATIVE),
        ("4 to 8 nodes", CAPACITY, Standing.ALTERNATIVE),
        ("大约 8 台", CAPACITY, Standing.ALTERNATIVE),
        ("8台左右", CAPACITY, Standing.ALTERNATIVE),
        ("create it in `usw2-az1`", ZONE, Standing.QUOTED),
        ('the label reads "put it in usw2-az1"', ZONE, Standing.QUOTED),
        ("文档写着“放在 usw2-az1”", ZONE, Standing.QUOTED),
        ("```\nzone: usw2-az1\n```\nplease create a cluster", ZONE, Standing.QUOTED),
        ("> in usw2-az1\nyes, create it", ZONE, Standing.QUOTED),
        ("2026-11-30 10:00:01 created in usw2-az1\ncreate a cluster", ZONE, Standing.QUOTED),
        ('{"zone": "usw2-az1"}', ZONE, Standing.QUOTED),
        ("level=info zone=a placing in usw2-az1", ZONE, Standing.QUOTED),
        ("user: create it in usw2-az1", ZONE, Standing.QUOTED),
        ("Bob said: use usw2-az1 with 4 nodes", ZONE, Standing.OTHER_PERSON),
        ("my colleague suggested usw2-az1", ZONE, Standing.OTHER_PERSON),
        ("同事说放在 usw2-az1", ZONE, Standing.OTHER_PERSON),
        ("转发：放在 usw2-az1", ZONE, Standing.OTHER_PERSON),
        ("My manager wants usw2-az1", ZONE, Standing.OTHER_PERSON),
        ("FYI Bob's note: take usw2-az1", ZONE, Standing.OTHER_PERSON),
        ("as in the runbook: usw2-az1", ZONE, Standing.OTHER_PERSON),
        ("老板让我用 usw2-az1", ZONE, Standing.OTHER_PERSON),
        ("听说 usw2-az1 有货", ZONE, Standing.OTHER_PERSON),
        ("2026-11-30t10:00:00z usw2-az1 launch failed", ZONE, Standing.QUOTED),
        ("[ERROR] usw2-az1 launch failed", ZONE, Standing.QUOTED),
        ("the quota is 16 p5.48xlarge", TYPE, Standing.DESCRIPTION),
        ("除 usw2-az1 外都行", ZONE, Standing.NEGATED),
        ("至少要 4 台", CAPACITY, Standing.ALTERNATIVE),
        ("no more than 8 nodes", CAPACITY, Standing.ALTERNATIVE),
        ("能用 usw2-az1 吗？", ZONE, Standing.QUESTION),
        ("Please help.\nFrom: Bob\nPut it in usw2-az1", ZONE, Standing.OTHER_PERSON),
        ("is there capacity in usw2-az1?", ZONE, Standing.QUESTION),
        ("usw2-az1 还有容量吗？", ZONE, Standing.QUESTION),
        ("if usw2-az1 has room, create a cluster", ZONE, Standing.CONDITIONAL),
        ("如果 usw2-az1 有容量就建集群", ZONE, Standing.CONDITIONAL),
        ("The file system is in usw2-az1.", ZONE, Standing.DESCRIPTION),
        ("run the job on 2 nodes", CAPACITY, Standing.OTHER_ROLE),
        ("用 2 个节点跑训练任务", CAPACITY, Standing.OTHER_ROLE),
    ],
)
def test_a_mention_that_is_no_choice_says_why(text: str, kind: ChoiceKind, standing: Standing) -> None:
    assert standings(text, kind) == [standing]


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("not usw2-az1 but usw2-az2", "usw2-az2"),
        ("use usw2-az2 instead of usw2-az1", "usw2-az2"),
        ("instead of usw2-az1, use usw2-az2", "usw2-az2"),
        ("don't use usw2-az1, usw2-az3 or usw2-az4, put it in usw2-az2", "usw2-az2"),
        ("不要 usw2-az1，用 usw2-az2", "usw2-az2"),
        ("放 usw2-az2 而不是 usw2-az1", "usw2-az2"),
        ("in usw2-az1, no, usw2-az2", "usw2-az2"),
        ("放 usw2-az1，不对，usw2-az2", "usw2-az2"),
        ("I previously used usw2-az1 but now want usw2-az2", "usw2-az2"),
        ("Last time we were in usw2-az1. Now put it in usw2-az2.", "usw2-az2"),
        ("Bob prefers usw2-az1, I prefer usw2-az2", "usw2-az2"),
        ("上次用的 usw2-az1，这次用 usw2-az2", "usw2-az2"),
        ("张三说用 usw2-az1，我想用 usw2-az2", "usw2-az2"),
        ("az1 满了，放 az2", "usw2-az2"),
        ('the error said "no capacity in usw2-az1", so use usw2-az2', "usw2-az2"),
        ("usw2-az2, if possible", "usw2-az2"),
        ("don't forget to put it in usw2-az2", "usw2-az2"),
        ("Can you create a cluster in usw2-az2?", "usw2-az2"),
        ("能不能在 usw2-az2 建个集群？", "usw2-az2"),
    ],
)
def test_the_meant_one_of_two_zones_is_the_choice(text: str, zone: str) -> None:
    assert usable(text, ZONE) == [zone]


@pytest.mark.parametrize(
    "text",
    [
        "usw2-az1 or usw2-az2",
        "either usw2-az1 or else usw2-az2",
        "usw2-az1, otherwise usw2-az2",
        "usw2-az1 或者 usw2-az2",
        "usw2-az1 还是 usw2-az2 都行",
        "usw2-az1、usw2-az2",
    ],
)
def test_of_alternatives_none_is_a_choice(text: str) -> None:
    assert standings(text, ZONE) == [Standing.ALTERNATIVE, Standing.ALTERNATIVE]


def test_modes_named_as_alternatives_leave_the_count_without_a_mode() -> None:
    assert usable("8 nodes, on demand or spot", CAPACITY) == [capacity(8)]


@pytest.mark.parametrize("text", ["an H100 cluster", "H200 nodes", "用 H100 机器", "p5 nodes", "g5 machines", "A100"])
def test_a_gpu_or_a_family_of_several_sizes_names_no_type(text: str) -> None:
    assert usable(text, TYPE) == []


@pytest.mark.parametrize(
    "text",
    [
        "64 GPUs",
        "64 H100",
        "64 卡",
        "64 张 H100",
        "64块GPU",
        "for 3 hours",
        "用 3 小时",
        "a 1.2T Lustre",
        "1200 GiB",
        "kubernetes 1.33",
        "called llama-8",
        "the 7b model",
        "version 2",
        "第 2 个",
        "learning rate 3e4",
        "8-GPU machines",
        "8 卡机器",
        "建一个集群",
    ],
)
def test_a_number_of_something_else_is_no_node_count(text: str) -> None:
    assert [value for value in usable(text, CAPACITY) if value != capacity(None)] == []


def test_a_number_of_gpus_is_kept_as_a_fact() -> None:
    [found] = candidates("64 H100 GPUs")

    assert found.facts == {"accelerators": 64}
    assert found.choice.value == capacity(None)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("4 nodes of 8 GPUs", 4),
        ("nodes: 8", 8),
        ("ml.g5.12xlarge x 4", 4),
        ("8 × p5.48xlarge", 8),
        ("一百二十八台", 128),
        ("十六个节点", 16),
        ("节点数改成 3", 3),
        ("0 nodes", 0),
        ("-3 nodes", -3),
        ("1,000,000,000 nodes", 10**9),
        ("10^9 nodes", 10**9),
        ("no, make it 8", 8),
        ("change it to 6", 6),
        ("no, 8", 8),
        ("改成 4 台", 4),
        ("8 nodes, no, 4 nodes", 4),
        ("reduce from 8 to 4 nodes", 4),
        ("从 8 台减到 4 台", 4),
        ("把 8 台改成 4 台", 4),
        ("不是 8 台，是 4 台", 4),
        ("Make it 8 nodes instead of 4", 8),
        ("八卡机 4 台", 4),
        ("2 机 16 卡", 2),
        ("3 of its nodes", 3),
    ],
)
def test_a_node_count_is_read_as_said_even_when_it_is_absurd(text: str, count: int) -> None:
    assert usable(text, CAPACITY) == [capacity(count)]


@pytest.mark.parametrize(
    "text",
    [
        "usw2-\u0430z2",  # a Cyrillic a
        "\u0440p5.48xlarge",  # a Cyrillic p in front
        "usw2-az2\u200b1",  # a zero-width space
        "ml.\U0001d5b5\U0001d7e7.48xlarge",  # mathematical letters
        "https://example.org/usw2-az2",
        "my-usw2-az2-bucket",
        "usw2\u2013az2",  # a dash that is no hyphen
    ],
)
def test_what_only_looks_like_a_zone_or_type_is_none(text: str) -> None:
    assert [found for found in candidates(text) if found.choice.kind is not CAPACITY] == []


def test_the_quote_is_what_was_written() -> None:
    [zone] = [found for found in candidates("Put it in USW2-AZ2 please") if found.choice.kind is ZONE]

    assert (zone.choice.quote, zone.choice.origin, zone.choice.reference) == ("USW2-AZ2", Origin.SAID, "transcript:7")


def test_two_goals_keep_their_own_counts() -> None:
    text = "Create a cluster with 8 nodes and run the sample job on 2 nodes"

    assert usable(text, CAPACITY) == [capacity(8)]


CHOICES = st.sampled_from(
    ["8 on-demand p5.48xlarge in usw2-az2", "在 usw2-az1 用四台按需 p5en", "training plan plan-a, 16 nodes, us-west-2c"]
)


@settings(max_examples=40)
@given(CHOICES, st.sampled_from([("```\n", "\n```"), ("`", "`"), ('"', '"'), ("“", "”"), ("「", "」"), ("> ", "\n")]))
def test_nothing_inside_a_quotation_is_ever_a_choice(text: str, marks: tuple[str, str]) -> None:
    quoted = f"please look at this\n{marks[0]}{text}{marks[1]}\nthanks"

    assert [found for found in candidates(quoted) if found.is_usable] == []


@settings(max_examples=150)
@given(st.text(max_size=300))
def test_any_text_is_read_without_trouble_and_quotes_are_parts_of_it(text: str) -> None:
    for found in candidates(text):
        for piece in found.choice.quote.split(" … "):
            assert piece.strip() in text


@settings(max_examples=60)
@given(
    st.lists(
        st.sampled_from(["not ", "usw2-az1", " or ", ", ", "usw2-az2", "8 nodes", " maybe ", "不要", "“", "”", "\n"])
    )
)
def test_two_usable_zones_are_never_joined_by_or(parts: list[str]) -> None:
    text = "".join(parts)
    zones = [found for found in candidates(text) if found.choice.kind is ZONE and found.is_usable]

    for left, right in pairwise(zones):
        between = text[left.position : right.position]
        assert left.choice.value == right.choice.value or " or " not in between or "\n" in between


def test_a_long_text_is_read_in_reasonable_time() -> None:
    text = "not in usw2-az1 or 8 nodes, 建 8 台 p5.48xlarge said " * 400

    assert len(candidates(text)) > 400


@pytest.mark.parametrize(
    "piece", ["建八台", "said ", "not usw2-az1 ", "a", "8 ", "ml.", "called ", '"', "- ", "and run ", "usw2-az1 or "]
)
def test_no_text_of_the_longest_allowed_length_takes_long(piece: str) -> None:
    text = (piece * 20_000)[:20_000]
    began = time.process_time()

    candidates(text)

    assert time.process_time() - began < 3.0


def test_a_message_full_of_mentions_is_pasted_material() -> None:
    assert usable("put it in usw2-az1 with 8 nodes.\n" * 40, ZONE) == []


def test_a_sentence_without_an_end_is_pasted_material() -> None:
    assert usable("word " * 150 + "in usw2-az1", ZONE) == []


def test_a_long_forwarded_note_stays_somebody_elses() -> None:
    assert usable("Forwarded message: " + "please read. " * 600 + "use usw2-az1", ZONE) == []
