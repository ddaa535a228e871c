"""Client tokens, where AWS has them and only there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from core.json_value import digest
from twin.aws.context import Context
from twin.aws.errors import AwsError
from twin.aws.params import Params, Reply
from twin.world import durations
from twin.world.state import TokenUse


def remembered(
    ctx: Context,
    operation: str,
    params: Params,
    act: Callable[[], tuple[Reply, list[str]]],
    replay: Callable[[list[str]], Reply],
    *,
    member: str = "ClientToken",
    life_seconds: float = durations.TOKEN_LIFE,
    mismatch: str = "ValidationException",
) -> Reply:
    """`act` once per token; the same token with the same request is answered by `replay` of what it made.

    Another request under the same token fails with the code `mismatch`.
    """
    token, world = params.text(member), ctx.sim.world
    if not token:
        return act()[0]
    request = {key: value for key, value in params.items() if key != member}
    key = f"{operation}:{token}"
    use = world.tokens.get(key)
    if use is not None and ctx.sim.now - use.used_at < timedelta(seconds=life_seconds):
        if use.digest != digest(request):
            raise AwsError(mismatch, f"{member} {token} was used with other parameters.")
        ctx.outcome.took_effect = False
        return replay(use.made)
    reply, made = act()
    world.tokens[key] = TokenUse(digest=digest(request), used_at=ctx.sim.now, made=made)
    return reply
