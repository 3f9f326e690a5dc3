"""`./dev bench`: runs the scenarios, a soak or a profile, and prints the results."""

import shlex
import signal
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from subprocess import SubprocessError

from widget_catalog.app.features import install_features

from . import options as options_
from . import picture, profiling, report, soak
from .machine import describe, load_average
from .measures import BenchError
from .options import Options
from .report import Finding, Setting
from .rig import Rig, say, set_up
from .scenarios import Scenario, chosen, listing


def main(arguments: Sequence[str]) -> int:
    install_features()
    options = options_.parse(arguments, listing())
    command = shlex.join(["./dev", "bench", *arguments])
    try:
        with set_up(options) as rig:
            if options.soak is not None:
                return 0 if soak.run(rig, options.soak) else 1
            if options.profile is not None:
                profiling.run(options.profile, options.widgets)
                return 0
            now, load = datetime.now(UTC), load_average()
            setting = Setting(command, now, describe(), rig.cores, load)
            return _run_scenarios(rig, setting, chosen(options))
    except BenchError as error:
        say(str(error))
        return 1


def _run_scenarios(rig: Rig, setting: Setting, scenarios: Sequence[Scenario]) -> int:
    options: Options = rig.options
    findings: list[Finding] = []
    for sentence in setting.sentences():
        say(sentence)
    for scenario in scenarios:
        say(f"Measuring {scenario.name} …")
        try:
            new = [Finding(scenario.name, outcome) for outcome in scenario.run(rig)]
        except (BenchError, OSError, ValueError, SubprocessError) as error:
            # A scenario that fails is reported, and the others continue.
            new = [Finding(scenario.name, None, str(error))]
        findings += new
        if not options.json:
            print("\n".join(map(report.as_text, new)), flush=True)
    if options.json:
        print(report.as_json(setting, findings))
    if options.markdown is not None:
        options.markdown.write_text(report.as_markdown(setting, findings), encoding="utf-8")
        say(f"Wrote {options.markdown}.")
    if options.picture is not None:
        compared = [it.outcome for it in findings if it.scenario == "peers" and it.outcome]
        if not compared:
            raise BenchError("There is nothing to draw: --picture needs the scenario peers.")
        options.picture.write_text(picture.draw(compared, setting.caption()), encoding="utf-8")
        say(f"Wrote {options.picture}.")
    say(report.verdict(findings))
    return 1 if any(it.holds is False for it in findings) else 0


if __name__ == "__main__":
    # So that the servers are always stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # For example, `| head`.
        sys.stdout = None
        sys.exit(1)
