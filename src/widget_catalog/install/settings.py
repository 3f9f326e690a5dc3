"""The settings of /install."""

from dataclasses import dataclass
from pathlib import Path

from ..core.settings import FeatureSettings, setting


def _is_folder(value: str) -> str | None:
    return None if not value or Path(value).is_dir() else "must be a folder."


@dataclass(frozen=True, kw_only=True)
class InstallSettings(FeatureSettings):
    tool_dependencies: str = setting(
        "",
        "A folder with wheels that [the tool depends on](operating.md#offer-the-tool-to-authors), "
        "for a network without a package index: `/install` offers them, too. Empty: they come from "
        "the index that authors' machines use.",
        rule=_is_folder,
    )
