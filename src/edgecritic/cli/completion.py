"""``edgecritic completion``: a script that lets a shell complete commands, options and their choices."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

__all__ = ["SHELLS", "add_parser", "run", "completion_script"]

SHELLS = ("bash", "zsh", "fish")

_DESCRIPTION = """\
Print a script that completes commands, options and their choices; files are completed as ever. In bash:
eval "$(edgecritic completion bash)"; in zsh the same with zsh; in fish: edgecritic completion fish | source.
Put the line into the start file of your shell to keep it.
"""


@dataclass(frozen=True, slots=True)
class _Place:
    """What may follow at one place of the command line: ``()`` is the start, ``("bench",)`` a command."""

    path: tuple[str, ...]
    words: dict[str, str] = field(default_factory=dict)
    """Sub-commands, or the choices of an argument, with their help."""
    options: dict[str, str] = field(default_factory=dict)
    choices: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What may follow an option."""

    @property
    def name(self) -> str:
        return "".join(f"/{word}" for word in self.path)


def add_parser(subparsers: Any) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "completion", help="let your shell complete commands and options", description=_DESCRIPTION
    )
    parser.add_argument("shell", choices=SHELLS, help="which shell")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    from edgecritic.cli.main import build_parser

    print(completion_script(build_parser(), args.shell), end="")
    return 0


def completion_script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the script of a shell for everything that a parser knows.

    Examples
    --------
    >>> small = argparse.ArgumentParser(prog="see", add_help=False)
    >>> _ = small.add_argument("--size", choices=("small", "large"), help="how large")
    >>> print(completion_script(small, "fish").splitlines()[-1])
    complete -c see -n '__see_at ""' -l size -x -a 'small large' -d 'how large'
    """
    places = list(_places(parser, ()))
    make = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]
    return make(parser.prog, places)


def _places(parser: argparse.ArgumentParser, path: tuple[str, ...]) -> Iterator[_Place]:
    place = _Place(path)
    inner: list[tuple[str, argparse.ArgumentParser]] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            place.words.update({pseudo.dest: pseudo.help or "" for pseudo in action._choices_actions})
            inner += action.choices.items()
        elif action.option_strings:
            for option in action.option_strings:
                place.options[option] = action.help or ""
                if action.choices:
                    place.choices[option] = tuple(map(str, action.choices))
        elif action.choices:
            place.words.update(dict.fromkeys(map(str, action.choices), ""))
    yield place
    for name, command in inner:
        yield from _places(command, (*path, name))


_BASH = """\
_{prog}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} place= word words=
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$place/$word" in {known}) place="$place/$word" ;; esac
  done
  case "$place $before" in
{choices}
    *) case "$place:$current" in
{words}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _{prog} {prog}
"""


def _bash(prog: str, places: list[_Place]) -> str:
    choices = [
        f"    '{place.name} {option}') words='{' '.join(found)}' ;;"
        for place in places
        for option, found in place.choices.items()
    ]
    words = [
        f"      '{place.name}:'{pattern}) words='{' '.join(found)}' ;;"
        for place in places
        for pattern, found in (("-*", place.options), ("*", place.words))
        if found
    ]
    return _BASH.format(prog=prog, known=_known(places), choices="\n".join(choices), words="\n".join(words))


_ZSH = """\
#compdef {prog}
_{prog}() {{
  local place= word before=${{words[CURRENT-1]}}
  local -a found
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "$place/$word" in {known}) place="$place/$word" ;; esac
  done
  case "$place $before" in
{choices}
    *) case "$place:${{words[CURRENT]}}" in
{words}
    esac ;;
  esac
  (( $#found )) && _describe '{prog}' found
  [[ ${{words[CURRENT]}} == -* ]] || _files
}}
if [[ $funcstack[1] == _{prog} ]]; then _{prog} "$@"; else compdef _{prog} {prog}; fi
"""


def _zsh(prog: str, places: list[_Place]) -> str:
    choices = [
        f"    '{place.name} {option}') found=({' '.join(map(_quoted, found))}) ;;"
        for place in places
        for option, found in place.choices.items()
    ]
    words = []
    for place in places:
        words.append(f"      '{place.name}:'-*) found=({_described(place.options)}) ;;")
        if place.words:
            words.append(f"      '{place.name}:'*) found=({_described(place.words)}) ;;")
    return _ZSH.format(prog=prog, known=_known(places), choices="\n".join(choices), words="\n".join(words))


_FISH = """\
function __{prog}_at
  set -l place
  for word in (commandline -opc)[2..-1]
    switch "$place/$word"
      case {known}
        set place "$place/$word"
    end
  end
  test "$place" = "$argv[1]"
end
"""


def _fish(prog: str, places: list[_Place]) -> str:
    known = " ".join(place.name for place in places[1:]) or "''"
    lines = [_FISH.format(prog=prog, known=known).rstrip()]
    for place in places:
        start = f"complete -c {prog} -n '__{prog}_at \"{place.name}\"'"
        lines += [f"{start} -a {word} -d {_quoted(text)}" for word, text in place.words.items()]
        for option, text in place.options.items():
            kind = "-l" if option.startswith("--") else "-s"
            values = place.choices.get(option)
            given = f" -x -a '{' '.join(values)}'" if values else ""
            lines.append(f"{start} {kind} {option.lstrip('-')}{given} -d {_quoted(text)}")
    return "\n".join(lines) + "\n"


def _known(places: list[_Place]) -> str:
    return "|".join(place.name for place in places[1:]) or "''"


def _described(words: dict[str, str]) -> str:
    return " ".join(_quoted(f"{word}:{text}" if text else word) for word, text in words.items())


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "’").replace("\\", "/").replace("%%", "%").replace("\n", " ") + "'"
