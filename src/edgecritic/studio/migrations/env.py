"""Run migrations on the connection that the studio hands over."""

from __future__ import annotations

from alembic import context

from edgecritic.studio.models import Base


def run() -> None:
    """Run them; Alembic has set up `context` before it loads this file."""
    connection = context.config.attributes["connection"]
    context.configure(connection=connection, target_metadata=Base.metadata, render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()


if hasattr(context, "config"):
    run()
