"""Simple command-line values are converted as Typer itself would."""

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from widget_contract.command_values import convert_plainly


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


app = typer.Typer(add_completion=False)


@app.command()
def show(
    words: Annotated[list[str] | None, typer.Argument()] = None,
    text: str | None = None,
    number: Annotated[int, typer.Option(min=1, max=9)] = 5,
    any_number: int | None = None,
    place: Path | None = None,
    colour: Colour = Colour.RED,
    colours: list[Colour] | None = None,
    many: list[str] | None = None,
    fast: bool = False,
    slow: Annotated[bool | None, typer.Option("--slow/--not-slow")] = None,
) -> None:
    values = (words, text, number, any_number, place, colour, colours, many, fast, slow)
    typer.echo(repr([(type(it).__name__, it) for it in values]))


def said(arguments: list[str], *, is_plain: bool) -> Any:
    command = get_command(app)
    if is_plain:
        for parameter in command.params:
            convert_plainly(parameter)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", lambda _: command)
        done = CliRunner().invoke(app, arguments)
    return done.exit_code, done.output


def test_the_same_value_or_the_same_refusal() -> None:
    cases = [
        "", "one", "one two", "--text x", "--text ''", "--number 1", "--number 9", "--number 007",
        "--number 0", "--number 10", "--number many", "--number 1_0", "--number +3",
        "--number 2.0", "--number ٣", "--any-number -4", "--any-number 99999999999999999999",
        "--place .", "--place /no/such/place", "--place ''", "--colour blue", "--colour green",
        "--colour RED", "--colours red --colours blue", "--colours red --colours x",
        "--many a --many b", "--fast", "--slow", "--not-slow", "--text",
    ]  # fmt: skip
    for line in cases:
        arguments = shlex.split(line)
        assert said(arguments, is_plain=True) == said(arguments, is_plain=False)
