from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Page(Generic[Item]):
    """One page of a list."""

    data: list[Item]
    next_cursor: str | None
    """Leads to the next page; None on the last one."""
    limit: int
    """Maximum number of items per page."""


def page_of(body: Any) -> Page[Any]:
    return Page(body["data"], body["next_cursor"], body["limit"])


class Pages(Generic[Item]):
    """A list that comes in pages.

    Iterate over it for the items of all pages, which are requested one after the other as you go, or call `first()`.
    """

    def __init__(self, request: Callable[[str | None], Page[Item]]) -> None:
        self._request = request

    def first(self) -> Page[Item]:
        """Returns the first page."""
        return self._request(None)

    def __iter__(self) -> Iterator[Item]:
        page = self.first()
        yield from page.data
        while page.next_cursor is not None:
            page = self._request(page.next_cursor)
            yield from page.data


class AsyncPages(Generic[Item]):
    """A list that comes in pages.

    Iterate over it with `async for` for the items of all pages, which are requested one after the other as you go, or
    await `first()`.
    """

    def __init__(self, request: Callable[[str | None], Awaitable[Page[Item]]]) -> None:
        self._request = request

    async def first(self) -> Page[Item]:
        """Returns the first page."""
        return await self._request(None)

    async def __aiter__(self) -> AsyncIterator[Item]:
        page = await self.first()
        while True:
            for item in page.data:
                yield item
            if page.next_cursor is None:
                return
            page = await self._request(page.next_cursor)
