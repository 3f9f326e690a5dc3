"""An HTML page as a list of elements, for simple queries. The parser is the library's."""

from html.parser import HTMLParser
from typing import NamedTuple

_VOID = {"meta", "link", "img", "source", "input", "br", "hr"}


class Element(NamedTuple):
    tag: str
    attributes: dict[str, str | None]
    texts: list[str]

    @property
    def text(self) -> str:
        """All text inside, with normalized white space."""
        return " ".join("".join(self.texts).split())


class Html(HTMLParser):
    """`open_at_end` is empty for a page whose elements are all closed, in order."""

    def __init__(self, body: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.open_at_end: list[Element] = []
        self.feed(body.decode())
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs), [])
        self.elements.append(element)
        if tag not in _VOID:
            self.open_at_end.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, dict(attrs), []))

    def handle_endtag(self, tag: str) -> None:
        if self.open_at_end and self.open_at_end[-1].tag == tag:
            self.open_at_end.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open_at_end:
            element.texts.append(data)

    def all(self, tag: str, **attributes: str) -> list[Element]:
        """The elements of this kind with these attributes; `class_` stands for class."""
        wanted = {key.rstrip("_"): value for key, value in attributes.items()}
        return [
            element
            for element in self.elements
            if element.tag == tag and wanted.items() <= {**element.attributes}.items()
        ]

    def one(self, tag: str, **attributes: str) -> Element:
        (found,) = self.all(tag, **attributes)
        return found

    @property
    def ids(self) -> list[str]:
        return [id_ for it in self.elements if (id_ := it.attributes.get("id"))]

    @property
    def links(self) -> list[str]:
        return [it.attributes["href"] or "" for it in self.all("a")]
