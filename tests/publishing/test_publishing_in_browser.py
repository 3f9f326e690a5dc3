"""Publishing with a real browser: dropping a folder, or choosing files without a script."""

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect

from support.chromium import TIMEOUT_MS, complaints_of
from support.people import PASSWORD, manifest
from support.pictures import a_picture
from support.service import Service

PHONE = 390
BUNDLE = """
export function mount(element) {
  element.innerHTML = `<p class="timer">Ready</p>`;
  return { unmount() {} };
}
"""
CHANGELOG = """# Changelog

## 1.1.0

Later.

## [v1.0.0] - 2026-01-31

- Rings.

```sh
# not a heading
```

### Fixed

- Stops.

## 0.9.0

Earlier.
"""


def a_widget(folder: Path, name: str, **more: Any) -> Path:
    """A typical author's folder, with many files that are not published."""
    (folder / "node_modules" / "x").mkdir(parents=True)
    (folder / "node_modules" / "x" / "widget.json").write_text("{}")
    (folder / "dist").mkdir()
    said = manifest(name, main="dist/main.js", style="dist/main.css", **more)
    (folder / "widget.json").write_text(json.dumps(said))
    (folder / "dist" / "main.js").write_text(BUNDLE)
    (folder / "dist" / "main.css").write_text(".timer { color: rgb(255, 0, 0) }")
    (folder / "README.md").write_text("# Timer")
    (folder / "CHANGELOG.md").write_text(CHANGELOG)
    (folder / "screenshots").mkdir()
    (folder / "screenshots" / "light.png").write_bytes(a_picture())
    (folder / "screenshots" / "night.jpg").write_bytes(a_picture("jpg", 300, 300))
    (folder / "screenshots" / "notes.txt").write_text("not published")
    return folder


def signed_in(
    browser: Browser, service: Service, next_: str, *, name: str = "eve", scripts: bool = True
) -> Page:
    context = browser.new_context(
        viewport={"width": PHONE, "height": 900}, java_script_enabled=scripts
    )
    context.set_default_timeout(TIMEOUT_MS)
    page = context.new_page()
    page.goto(f"{service.url}/sign-in?next={next_}")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(f"**{next_}")
    return page


def drop(page: Page, target: Locator, folder: Path) -> None:
    """As the system does when a folder is dragged onto the page."""
    expect(target).to_be_visible()
    box = target.bounding_box()
    assert box is not None
    session = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(folder)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        session.send("Input.dispatchDragEvent", {"type": kind, **place, "data": data})


def assert_is_loaded(picture: Locator) -> None:
    expect(picture).to_be_visible()
    picture.scroll_into_view_if_needed()
    assert picture.evaluate("it => it.decode().then(() => it.naturalWidth)") > 0


def chosen(page: Page, label: str) -> list[str]:
    """The names of the files that a field has."""
    names: list[str] = page.get_by_label(label).evaluate("it => [...it.files].map(it => it.name)")
    return names


def test_a_folder_is_dropped_runs_in_the_preview_and_is_published(
    browser: Browser, people_service: Service, tmp_path: Path
) -> None:
    page = signed_in(browser, people_service, "/account/widgets")
    said, elsewhere = complaints_of(page), []
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((people_service.url, "blob:"))
            else elsewhere.append(request.url)
        ),
    )
    page.get_by_role("link", name="publish it from your browser").click()
    zone = page.locator("[data-drop]")

    drop(page, zone, a_widget(tmp_path / "timer", "timer", permissions=["network"]))

    expect(zone).to_contain_text(
        "Found: widget.json, main.js, main.css, README.md, light.png, night.jpg, "
        "release notes in CHANGELOG.md."
    )
    expect(page.get_by_label("Release notes")).to_have_value(
        "- Rings.\n\n```sh\n# not a heading\n```\n\n### Fixed\n\n- Stops."
    )
    page.get_by_role("button", name="Check and preview").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Clock 1.0.0")
    expect(page.locator("main")).to_contain_text("network")
    for name in ("light", "night"):
        assert_is_loaded(page.get_by_alt_text(f"Screenshot: {name}"))
    assert page.request.get(f"{people_service.url}/api/v1/widgets/eve/timer").status == 404
    page.get_by_role("button", name="Run the preview").click()
    shown = page.frame_locator(".preview iframe").locator(".timer")
    expect(shown).to_have_text("Ready")
    expect(shown).to_have_css("color", "rgb(255, 0, 0)")
    page.get_by_role("button", name="Publish 1.0.0").click()
    expect(page.get_by_role("status")).to_contain_text("The version was published")
    published = page.request.get(f"{people_service.url}/cdn/@eve/timer/1.0.0/index.js")
    assert published.text() == BUNDLE
    page.goto(f"{people_service.url}/widgets/eve/timer")
    assert_is_loaded(page.locator(".gallery").get_by_alt_text("Screenshot: night"))
    assert (said, elsewhere) == ([], [])
    page.context.close()


def test_the_folder_of_another_tool_is_understood(
    browser: Browser, people_service: Service, tmp_path: Path
) -> None:
    page = signed_in(browser, people_service, "/account/publish")
    folder = a_widget(tmp_path / "theirs", "Été & Café")
    said = json.loads((folder / "widget.json").read_text())
    for key in ("displayName", "main", "style"):
        del said[key]
    (folder / "widget.json").write_text(json.dumps(said))
    (folder / "dist" / "main.js").rename(folder / "dist" / "index.js")
    (folder / "dist" / "main.css").rename(folder / "dist" / "style.css")

    drop(page, page.locator("[data-drop]"), folder)

    expect(page.get_by_label("Name in URLs")).to_have_value("ete-cafe")
    assert (chosen(page, "Bundle"), chosen(page, "Style sheet")) == (["index.js"], ["style.css"])
    page.get_by_role("button", name="Check and preview").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Été & Café 1.0.0")
    page.context.close()


def test_errors_are_shown_beside_the_fields_and_the_files_stay_chosen(
    browser: Browser, people_service: Service, tmp_path: Path
) -> None:
    page = signed_in(browser, people_service, "/account/publish")
    folder = a_widget(tmp_path / "timer", "broken", icon="clock", minSize={"w": 9, "h": 9})
    (folder / "screenshots" / "light.png").write_text("no picture")
    drop(page, page.locator("[data-drop]"), folder)
    expect(page.locator("[data-found]")).to_contain_text("Found:")

    page.get_by_role("button", name="Check and preview").click()

    expect(page.get_by_role("alert")).to_contain_text("There are 3 errors.")
    expect(page.get_by_role("alert")).to_be_focused()
    expect(page.locator("#faults-manifest p")).to_have_text(
        [
            "icon: must be an Iconify name, such as mdi:clock.",
            "minSize: must not be larger than maxSize.",
        ]
    )
    expect(page.locator("#faults-screenshots")).to_have_text(
        "light.png is not a PNG, JPEG or WebP picture."
    )
    assert chosen(page, "Bundle") == ["main.js"]
    assert chosen(page, "Screenshots") == ["light.png", "night.jpg"]
    page.context.close()


def test_without_javascript_a_widget_is_published_yanked_and_revoked(
    browser: Browser, people_service: Service, tmp_path: Path
) -> None:
    page = signed_in(browser, people_service, "/account/publish", scripts=False)
    folder = a_widget(tmp_path / "alarm", "alarm")
    expect(page.locator("[data-drop]")).to_be_hidden()

    page.get_by_label("Manifest").set_input_files(folder / "widget.json")
    page.get_by_role("button", name="Check and preview").click()

    expect(page.locator("#faults-bundle")).to_have_text("Choose the bundle, a JavaScript module.")
    page.get_by_label("Manifest").set_input_files(folder / "widget.json")
    page.get_by_label("Bundle").set_input_files(folder / "dist" / "main.js")
    pictures = [folder / "screenshots" / it for it in ("night.jpg", "light.png", "notes.txt")]
    page.get_by_label("Screenshots").set_input_files(pictures)
    page.get_by_role("button", name="Check and preview").click()
    expect(page.locator("#faults-screenshots")).to_have_text(
        "notes.txt is not a PNG, JPEG or WebP picture."
    )
    page.get_by_label("Manifest").set_input_files(folder / "widget.json")
    page.get_by_label("Bundle").set_input_files(folder / "dist" / "main.js")
    page.get_by_label("Screenshots").set_input_files(pictures[:2])
    page.get_by_role("button", name="Check and preview").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Clock 1.0.0")
    expect(page.get_by_alt_text("Screenshot: night")).to_be_visible()
    page.get_by_role("button", name="Publish 1.0.0").click()
    expect(page.get_by_role("status")).to_contain_text("The version was published")
    detail = page.request.get(f"{people_service.url}/api/v1/widgets/eve/alarm/1.0.0").json()
    paths = [it["path"] for it in detail["files"] if it["contentType"] != "image/webp"]
    assert paths == ["index.js", "screenshots/night.jpg", "screenshots/light.png"]

    version = "/account/widgets/eve/alarm/versions/1.0.0"
    page.goto(people_service.url + version)
    page.get_by_label("Reason (public)").fill("It never rings.")
    page.get_by_role("button", name="Yank 1.0.0").click()
    expect(page.get_by_role("status")).to_contain_text("The version was yanked")
    page.goto(f"{people_service.url}/widgets/eve/alarm/1.0.0")
    expect(page.locator("main")).to_contain_text("It never rings.")
    page.context.close()

    page = signed_in(browser, people_service, version, name="olly", scripts=False)
    page.locator("#revoke-reason").fill("It listens.")
    page.get_by_role("button", name="Revoke 1.0.0").click()
    expect(page.get_by_role("status")).to_contain_text("The version was revoked")
    page.goto(f"{people_service.url}/widgets/eve/alarm/1.0.0")
    expect(page.get_by_text("it must not run")).to_be_visible()
    expect(page.locator("main")).to_contain_text("It listens.")
    page.context.close()
