"""What every request to an endpoint was charged, whatever it was for: the one ledger that all costs are told from."""

from sqlalchemy import Subquery, and_, case, func, select

from annotator.actions.runs.journal import CALL, RUN

# A request without an answer has been kept with the most that it may have cost, and no count of tokens.
_UNBILLED = and_(CALL.c.tokens_output.is_(None), CALL.c.cost_usd > 0)


def bills() -> Subquery:
    """Every call with its run and judge, what it was `charged`, and whether its bill is `known` (1) or guessed (0).

    A request whose bill never came, since it was cut short, is guessed to have cost what those of its run cost on
    average, or the most it may have where none of them was answered. `charged` is None where no price is known.
    """
    mean = (
        select(CALL.c.run_id, CALL.c.judge_id, func.avg(CALL.c.cost_usd).label("usual"))
        .where(CALL.c.cost_usd > 0, CALL.c.tokens_output.is_not(None))
        .group_by(CALL.c.run_id, CALL.c.judge_id)
        .subquery()
    )
    same = and_(
        func.coalesce(mean.c.run_id, "") == func.coalesce(CALL.c.run_id, ""),
        mean.c.judge_id == CALL.c.judge_id,
    )
    guessed = and_(_UNBILLED, mean.c.usual.is_not(None))
    return (
        select(
            CALL.c.id,
            CALL.c.cache_key,
            CALL.c.run_id,
            CALL.c.judge_id,
            func.coalesce(RUN.c.protocol, "").label("protocol"),
            case((guessed, mean.c.usual), else_=CALL.c.cost_usd).label("charged"),
            case((_UNBILLED, 0), else_=1).label("known"),
        )
        .select_from(CALL)
        .outerjoin(RUN, RUN.c.id == CALL.c.run_id)
        .outerjoin(mean, same)
        .subquery()
    )
