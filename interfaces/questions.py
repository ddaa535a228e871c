"""A question as lines of text: the same wording wherever it is shown."""

from __future__ import annotations

from core.messages.message import Language, message
from state.records import Question


def question_lines(question: Question, language: Language) -> list[str]:
    """Prompt, card, numbered options with their evidence below them; the recommended one says so."""
    lines = [question.prompt.render(language)]
    lines += [f"  {line.render(language)}" for line in question.details]
    for number, option in enumerate(question.options, start=1):
        mark = message("cli.recommended").render(language) if option.is_recommended else ""
        lines.append(f"  {number}) {option.label.render(language)}{mark}")
        lines += [f"       {item.render(language)}" for item in option.evidence]
    if question.takes_other:
        lines.append(f"  {message('cli.takes_other').render(language)}")
    return lines
