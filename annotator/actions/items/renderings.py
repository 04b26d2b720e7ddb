"""Reports and sources as safe HTML: rendered once and cached in the project."""

from collections.abc import Callable

from sqlalchemy import select

from annotator.actions.project import keeping
from annotator.actions.project.file import Project
from annotator.domain.texts.canonical import sha256
from annotator.domain.texts.rendered import RENDERER_VERSION, Rendered
from annotator.storage import upserts
from annotator.storage.tables import RENDERING, RESPONSE


def html(project: Project, text: str) -> Rendered:
    """The safe HTML of a Markdown text, from the project's cache when it is there."""
    key = sha256(text)
    question = select(RENDERING.c.html, RENDERING.c.plain, RENDERING.c.reason).where(
        RENDERING.c.text_sha256 == key, RENDERING.c.version == RENDERER_VERSION
    )
    with project.store.read() as db:
        row = db.execute(question).first()
    if row:
        return Rendered(html=row.html, plain=row.plain, reason=row.reason)
    rendered = _rendered(text)
    if not project.readonly and not rendered.unfinished:
        _keep(project, [(key, rendered)])
    return rendered


def warm(project: Project, progress: Callable[[str, int, int], None] | None = None) -> int:
    """Render every response that is not yet in the cache; how many were made.

    One for whose formulas time ran out is not kept: the person who opens it has the rest drawn.
    """
    cached = select(RENDERING.c.text_sha256).where(RENDERING.c.version == RENDERER_VERSION)
    with project.store.read() as db:
        waiting = db.execute(
            select(RESPONSE.c.id, RESPONSE.c.sha256).where(RESPONSE.c.sha256.not_in(cached))
        ).all()
    for place, row in enumerate(waiting):
        with project.store.read() as db:
            text = db.execute(select(RESPONSE.c.text).where(RESPONSE.c.id == row.id)).scalar_one()
        rendered = _rendered(text)
        if not rendered.unfinished:
            _keep(project, [(row.sha256, rendered)])
        if progress:
            progress("rendering reports", place + 1, len(waiting))
    return len(waiting)


def _rendered(text: str) -> Rendered:
    # Most texts that a page opens with were rendered before.
    from annotator.exchange.texts.rendering import render

    return render(text)


def _keep(project: Project, made: list[tuple[str, Rendered]]) -> None:
    rows = [
        {
            "text_sha256": key,
            "version": RENDERER_VERSION,
            "html": r.html,
            "plain": r.plain,
            "reason": r.reason,
        }
        for key, r in made
    ]
    with keeping.unmoved(project), project.store.write() as db:
        upserts.add_missing(db, RENDERING, rows)
