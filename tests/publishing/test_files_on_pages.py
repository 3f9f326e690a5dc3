"""README and pictures on the pages of a version."""

from publishing.attached_files import FILES, PLACE, README
from support.site_with_people import People

HOSTILE = """# Hi

<script>alert(1)</script> <img src=x onerror=alert(1)> [bad](javascript:alert(1)) ![a](README.md)
"""


def test_the_page_shows_readme_and_pictures_of_the_version(people: People) -> None:
    people.ann.publish("ann/new", files=FILES, readme="From the manifest.")
    people.ann.publish("ann/new", "1.1.0", readme="From the *manifest*.")

    old = people.site.get("/widgets/ann/new/1.0.0").body.decode()
    assert "<p>Shows the time in <em>every</em> zone. ⏰</p>" in old
    assert "manifest.</" not in old
    thumbnail = f'<img src="{PLACE}screenshots/light.thumb.webp" width="640" height="400" '
    assert thumbnail + 'alt="Screenshot: Light" loading="lazy" decoding="async">' in old
    assert f'<a href="https://catalog.example{PLACE}screenshots/light.png">' in old
    assert 'alt="Screenshot: Small 2 x"' in old
    german = people.site.get("/widgets/ann/new/1.0.0?lang=de").body.decode()
    assert 'alt="Screenshot: Hell"' in german
    assert 'alt="Screenshot: Small 2 x"' in german
    new = people.site.get("/widgets/ann/new").body.decode()
    assert "<p>From the <em>manifest</em>.</p>" in new
    assert "screenshots" not in new


def test_search_finds_the_words_of_the_attached_readme(people: People) -> None:
    def found(word: str) -> str:
        return people.site.get(f"/search?q={word}").body.decode()

    files = {"README.md": b"# New\n\nShows a **barometer**.\n"}
    people.ann.publish("ann/new", files=files, readme="A hygrometer.")
    change = "/api/widgets/ann/new/versions/1.0.0/deprecate"
    assert people.ann.post(change, {"message": "Old."}).status == 200

    page = found("barometers")
    assert "/widgets/ann/new" in page
    assert "Matches: README" in page
    assert "/widgets/ann/new" not in found("hygrometer")
    # The search of the API stays as it is.
    assert people.site.get("/api/v1/widgets/search?q=barometer").json()["total"] == 0
    people.ann.publish("ann/new", "1.1.0")
    assert "/widgets/ann/new" not in found("barometer")


def test_the_card_of_the_widget_shows_the_pictures_of_its_latest_version(people: People) -> None:
    people.ann.publish("ann/new", files=FILES)
    search = "/api/v1/widgets/search?scope=ann"
    before = people.site.get(search).body

    pictured = people.site.get("/scopes/ann").body.decode()
    assert (
        f'<img src="{PLACE}screenshots/light.thumb.webp" class="wide" alt="" width="640"'
        in pictured
    )
    assert f'srcset="{PLACE}screenshots/dark.thumb.webp" width="300"' in pictured
    assert people.site.get(search).body == before
    assert b"picture" not in before

    people.ann.publish("ann/new", "1.1.0")
    assert "thumb.webp" not in people.site.get("/scopes/ann").body.decode()


def test_a_hostile_readme_is_harmless_and_pages_stay_small(people: People) -> None:
    hostile = HOSTILE.encode() + b"[" * 30_000 + b"*_`<" * 8_000
    people.ann.publish("ann/new", files={"README.md": hostile})

    page = people.site.get("/widgets/ann/new").body

    assert b"<script>alert" not in page
    assert b"onerror" not in page.replace(b"&lt;img src=x onerror", b"")
    assert b"javascript:" not in page.replace(b"[bad](javascript:", b"")
    assert len(page) < 100_000
    assert people.site.get(PLACE + "README.md").body == hostile


def test_a_page_is_shown_without_a_readme_that_is_lost(people: People) -> None:
    people.ann.publish("ann/new", files={"README.md": README})
    [path] = people.site.node.folder.bundles.glob("*/*.md")
    path.unlink()

    assert people.site.get("/widgets/ann/new").status == 200
    assert people.site.get(PLACE + "README.md").status == 503
