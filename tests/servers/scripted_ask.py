"""A model that answers from a list, and keeps what it was asked as it would have been sent."""

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer
from annotator.judging.messages import load, render


class ScriptedAsk:
    """Gives each answer in turn: a dict is a reply that came, an Answer stands for itself."""

    def __init__(self, *answers, flags=()):
        self.answers = list(answers)
        self.flags = flags
        self.asked = []

    async def __call__(self, prompt, fields, reply, fenced=()):
        messages = render(load(prompt), fields, fenced, "f00d")
        self.asked.append(
            (prompt, dict(fields), tuple(fenced), messages[0]["content"] + messages[1]["content"])
        )
        answer = self.answers.pop(0)
        if isinstance(answer, Answer):
            return answer
        return Answer(Status.OK, reply.model_validate(answer), flags=self.flags)
