"""Answers: dicts with the names of the wire, whose fields are also attributes in snake case."""

import keyword
from typing import Any, Dict, List


def camel(name: str) -> str:
    """Name on the wire of a keyword or attribute: ``reply_to`` is ``replyTo``, and ``from_`` is ``from``."""
    first, *rest = (name[:-1] if name.endswith("_") else name).split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def snake(name: str) -> str:
    """Name of the attribute of a field: ``createdAt`` is ``created_at``, and ``from`` is ``from_``."""
    words = "".join("_" + letter.lower() if letter.isupper() else letter for letter in name)
    return words + "_" if keyword.iskeyword(words) or hasattr(dict, words) else words


class Object(Dict[str, Any]):
    """An object of an answer: ``email["createdAt"]`` is also ``email.created_at``.

    Fields that the library does not know are there too. An attribute of a field that the answer does not have raises ``AttributeError``.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        try:
            return self[camel(name)]
        except KeyError:
            raise AttributeError(f"the answer has no field {camel(name)!r}") from None

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *(snake(name) for name in self)]
