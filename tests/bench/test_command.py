"""The options of `./dev bench`, its choice of scenarios, and its report."""

import json
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from bench.machine import ANYWHERE
from bench.measures import BenchError, Outcome, Served, at_least
from bench.options import Options, parse
from bench.report import Finding, Setting, as_json, as_markdown, as_text, verdict
from bench.scenarios import SCENARIOS, chosen, listing

SETTING = Setting(
    "./dev bench",
    datetime(2026, 1, 31, tzinfo=UTC),
    {
        "cores": "2",
        "architecture": "arm64",
        "processor": "Model T",
        "memory": "4 GB",
        "system": "Linux 6",
        "python": "CPython 3.11",
    },
    ANYWHERE,
    0.1,
)
FINDINGS = [
    Finding("detail", Outcome("a detail", 0.412, "of nginx", at_least(0.33), ["fast"])),
    Finding("search-hot", Outcome("a search", 12345.6, "/s")),
    Finding("counter", None, "The server ended."),
]


def test_without_arguments_the_defaults_hold() -> None:
    assert parse([]) == Options(only=[])


def test_every_argument_is_understood() -> None:
    given = "--only detail --only search* --million --peers --fresh --seconds 3 --rounds 7"
    more = "--connections 16 --markdown page.md --picture page.svg --json --workers 2 --widgets 50"
    told = f"{given} {more}".split()

    assert parse([*told, "--soak", "0.5"]) == Options(
        only=["detail", "search*"],
        million=True,
        peers=True,
        fresh=True,
        seconds=3,
        rounds=7,
        connections=16,
        markdown=Path("page.md"),
        picture=Path("page.svg"),
        json=True,
        soak=0.5,
        workers=2,
        widgets=50,
    )
    assert parse(["--profile", "search"]).profile == "search"


@pytest.mark.parametrize(
    "wrong",
    [
        "--rounds 0",
        "--seconds 1.5",
        "--connections many",
        "--soak 0",
        "--soak forever",
        "--profile everything",
        "--soak 1 --profile detail",
        "--unknown",
    ],
)
def test_wrong_arguments_end_with_code_2_and_a_sentence(
    wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(wrong.split())

    assert ended.value.code == 2
    assert "./dev bench: error: " in capsys.readouterr().err


def test_help_names_every_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(["--help"], listing())

    assert ended.value.code == 0
    told = capsys.readouterr().out
    assert all(f"  {it.name} " in told for it in SCENARIOS)


def test_scenarios_have_names_of_their_own() -> None:
    names = [it.name for it in SCENARIOS]

    assert len(set(names)) == len(names)


def test_the_million_runs_only_when_asked_for() -> None:
    def names(options: Options) -> set[str]:
        return {it.name for it in chosen(options)}

    everything = {it.name for it in SCENARIOS}
    million = {it.name for it in SCENARIOS if it.is_million}
    assert names(Options()) == everything - million - {"peers"}
    assert names(Options(million=True)) == everything - {"peers"}
    assert names(Options(million=True, peers=True)) == everything
    assert names(Options(only=["peers"])) == {"peers"}
    assert not names(Options(only=["*"])) & million
    assert names(Options(only=["start-1m"])) == {"start-1m"}
    assert names(Options(only=["start-*"], million=True)) == {"start-100k", "start-1m"}


def test_the_million_has_no_targets() -> None:
    for scenario in SCENARIOS:
        assert (
            not scenario.is_million
            or "wanted" not in cast("partial[object]", scenario.run).keywords
        )


def test_an_unknown_scenario_is_refused() -> None:
    with pytest.raises(BenchError, match="no scenario 'nothing'"):
        chosen(Options(only=["detail", "nothing"]))


def test_text_shows_the_result_beside_what_is_wanted() -> None:
    reached, informative, failed = map(as_text, FINDINGS)

    assert reached.split() == [
        *"✓ detail 0.41 of nginx wanted ≥ 0.33 of nginx a detail".split(),
        "fast",
    ]
    assert informative.split() == "· search-hot 12,346/s a search".split()
    assert failed == "✗ counter          failed: The server ended."
    assert verdict(FINDINGS) == "1 of 2 wanted figures reached."


def test_page_states_machine_date_and_command() -> None:
    page = as_markdown(SETTING, FINDINGS)

    assert "Measured on 2026-01-31 with `./dev bench`." in page
    assert "2 cores, arm64, Model T, 4 GB, Linux 6, CPython 3.11." in page
    assert "One core only" in page
    assert "| ✓ | a detail | 0.41 of nginx | ≥ 0.33 of nginx |" in page
    assert "| ✗ | counter | failed: The server ended. | |" in page


def test_page_shows_cpu_time_and_throughput_beside_both_baselines() -> None:
    figures = {"cpu_of_bare": 0.8, "cpu_of_nginx": 0.3, "rate_of_bare": 0.9, "rate_of_nginx": 0.4}
    servers = {"nginx": Served(9, 50_000), "bare": Served(24, 22_000), "catalog": Served(30, 2e4)}
    outcome = Outcome("a 304", 0.8, "of the bare server", at_least(0.75), [], figures, servers)

    page = as_markdown(SETTING, [Finding("detail-304", outcome)])

    cpu, rate, wanted = "30 µs | 0.80 | 0.30", "20,000 | 0.90 | 0.40", "≥ 0.75 of the bare server"
    assert f"| ✓ | a 304 | {cpu} | {rate} | {wanted} by CPU |" in page
    told = json.loads(as_json(SETTING, [Finding("detail-304", outcome)]))
    assert told["findings"][0]["servers"]["bare"] == {"cpuUs": 24, "requestsPerSecond": 22_000}


def test_json_holds_every_finding() -> None:
    told = json.loads(as_json(SETTING, FINDINGS))

    assert told["pinned"] is False
    assert [it["holds"] for it in told["findings"]] == [True, None, False]
    assert told["findings"][0]["value"] == 0.412
