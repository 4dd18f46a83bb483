"""From numpydoc to Markdown."""

from __future__ import annotations

import re
import textwrap

LISTS = ("Parameters", "Attributes", "Returns", "Raises", "Warns", "Yields")


def markdown(text: str, *, skip: tuple[str, ...] = ()) -> str:
    """Return a docstring as Markdown; parameters named in `skip` are left out."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", text, flags=re.MULTILINE)
    lines = [prose(parts[0])]
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        made = _definitions(body, skip) if title in LISTS else _section(title, body)
        if made:
            lines += [f"**{title}**", made]
    return "\n\n".join(line for line in lines if line)


def inline(text: str) -> str:
    """Return inline markup in the way of Markdown."""
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", text)
    text = re.sub(r"``(.+?)``", r"`\1`", text)
    return " ".join(text.split())


def prose(text: str) -> str:
    """Return paragraphs; what is indented, aligned or a table stays as it is."""
    return "\n\n".join(_paragraph(part) for part in re.split(r"\n\s*\n", text.strip("\n")) if part.strip())


def _paragraph(text: str) -> str:
    lines = text.splitlines()
    if text.startswith((" ", "=", ">>>", "- ", "* ")) or any(line.startswith("    ") for line in lines[1:]):
        return _code(text)
    return inline(text)


def _section(title: str, body: str) -> str:
    if title == "Examples":
        return _code(textwrap.dedent(body).strip("\n"))
    if title == "References":
        return prose(re.sub(r"^\.\. \[\d+\] *", "", body, flags=re.MULTILINE).replace("\n   ", "\n"))
    return prose(body)


def _definitions(body: str, skip: tuple[str, ...]) -> str:
    items: list[list[str]] = []
    for line in body.strip("\n").splitlines():
        if line and not line.startswith(" "):
            items.append([line])
        elif items:
            items[-1].append(line.strip())
    kept = [item for item in items if item[0].partition(" :")[0] not in skip]
    return "\n".join(_definition(item) for item in kept)


def _definition(item: list[str]) -> str:
    name, _, kind = item[0].partition(" : ")
    text = inline(" ".join(item[1:]))
    head = f"- `{name}`" + (f" ({inline(kind)})" if kind else "")
    return f"{head}: {text}" if text else head


def _code(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())
