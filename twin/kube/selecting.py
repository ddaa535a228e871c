"""Label and field selectors, as the API server parses them in a query."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from core.json_value import JsonValue
from twin.kube.errors import bad_request
from twin.kube.objects import Obj, array, dig, objects, strings, text

Predicate: TypeAlias = Callable[[Obj], bool]

_SET: Final = re.compile(r"([^\s!=,()]+)\s+(in|notin)\s*\(([^)]*)\)")
_COMMA_OUTSIDE_PARENTHESES: Final = re.compile(r",(?![^(]*\))")


def label_predicate(selector: str) -> Predicate:
    """`a=b,c!=d,e in (f,g),h,!i`; an empty selector matches all. Raises 400."""
    tests = [_label_term(term.strip()) for term in _COMMA_OUTSIDE_PARENTHESES.split(selector) if term.strip()]
    return lambda obj: all(test(strings(obj, "metadata", "labels")) for test in tests)


def label_selector_matches(selector: JsonValue, labels: Mapping[str, str]) -> bool:
    """A `LabelSelector` object against labels; an empty one matches all."""
    if any(labels.get(key) != value for key, value in strings(selector, "matchLabels").items()):
        return False
    return all(
        _holds(
            text(rule, "key"),
            text(rule, "operator"),
            {v for v in array(rule, "values") if isinstance(v, str)},
        )(labels)
        for rule in objects(selector, "matchExpressions")
    )


def field_predicate(selector: str) -> Predicate:
    """`spec.nodeName=x,status.phase!=y`: any path that holds text. Raises 400."""
    tests: list[tuple[list[str], str, bool]] = []
    for term in filter(None, selector.split(",")):
        match = re.fullmatch(r"([^=!]+)(==|=|!=)(.*)", term)
        if match is None:
            raise bad_request(f'invalid selector: "{selector}"; can\'t understand "{term}"')
        tests.append((match[1].split("."), match[3], match[2] != "!="))
    return lambda obj: all((_plain(dig(obj, *path)) == wanted) is equal for path, wanted, equal in tests)


def _plain(value: JsonValue) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _label_term(term: str) -> Callable[[Mapping[str, str]], bool]:
    if match := _SET.fullmatch(term):
        values = {value.strip() for value in match[3].split(",")}
        return _holds(match[1], "In" if match[2] == "in" else "NotIn", values)
    if match := re.fullmatch(r"([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)", term):
        return _holds(match[1], "NotIn" if match[2] == "!=" else "In", {match[3]})
    if re.fullmatch(r"![^\s=!]+", term):
        return _holds(term[1:], "DoesNotExist", set())
    if re.fullmatch(r"[^\s=!]+", term):
        return _holds(term, "Exists", set())
    raise bad_request(f'unable to parse requirement: found "{term}"')


def _holds(key: str, operator: str, values: set[str]) -> Callable[[Mapping[str, str]], bool]:
    match operator:
        case "In":
            return lambda labels: key in labels and labels[key] in values
        case "NotIn":
            return lambda labels: labels.get(key) not in values
        case "Exists":
            return lambda labels: key in labels
        case "DoesNotExist":
            return lambda labels: key not in labels
        case _:
            raise bad_request(f'"{operator}" is not a valid label selector operator')
