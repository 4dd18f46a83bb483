"""Shell completion offers what the parser knows."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from edgecritic.cli.completion import SHELLS, completion_script
from edgecritic.cli.main import build_parser, main


def complete(words: list[str]) -> list[str]:
    """Return what bash offers for the last of some words."""
    script = completion_script(build_parser(), "bash")
    line = " ".join(f"'{word}'" for word in words)
    ask = (
        f"COMP_WORDS=({line})\nCOMP_CWORD={len(words) - 1}\n_edgecritic\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run(["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


@needs_bash
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["edgecritic", "be"], ["bench"]),
        (["edgecritic", "list", "stra"], ["strategies"]),
        (["edgecritic", "score", "a.png", "--empty", ""], ["value", "nan", "raise"]),
        (["edgecritic", "match", "--relative"], ["--relative-tolerance"]),
        (["edgecritic", "match", ""], []),  # files
    ],
)
def test_bash_offers(words, found):
    assert complete(words) == found


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_and_option_is_in_every_script(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for action in build_parser()._subparsers._group_actions:
        for name, command in action.choices.items():
            assert f"/{name}" in script
            for option in command._option_string_actions:
                assert (option if shell != "fish" else option.lstrip("-")) in script


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_are_valid(shell):
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    subprocess.run([shell, "-n"], input=completion_script(build_parser(), shell), text=True, check=True)
