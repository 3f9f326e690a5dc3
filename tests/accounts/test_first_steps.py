"""The account page leads a new author from the tool to a published widget."""

from support.browsing import Browsing, browser_of
from support.people import with_token
from support.site_with_people import People


def steps(browsing: Browsing) -> list[str]:
    browsing.get("/account")
    return [it.text for it in browsing.page.all("h3")]


def current(browsing: Browsing) -> list[str]:
    return [it.text for it in browsing.page.all("li") if it.attributes.get("aria-current")]


def test_a_new_author_installs_the_tool_first(people: People) -> None:
    eve = browser_of(people.eve)
    assert steps(eve) == [
        "Install the tool next",
        "Sign in with it",
        "Create a widget, and edit it with a live preview",
        "Publish it",
    ]
    assert [it.partition(" next")[0] for it in current(eve)] == ["Install the tool"]
    assert "/install" in eve.page.links


def test_with_a_program_or_token_the_next_step_is_to_create_a_widget(people: People) -> None:
    with_token(people.eve)
    eve = browser_of(people.eve)
    assert steps(eve) == [
        "Install the tool done",
        "Sign in with it done",
        "Create a widget, and edit it with a live preview next",
        "Publish it",
    ]
    assert len(current(eve)) == 1


def test_who_has_published_sees_no_steps(people: People) -> None:
    assert steps(browser_of(people.ann)) == []
