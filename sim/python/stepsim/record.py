"""A map of the JSON, with its keys as attributes."""
import difflib
from typing import TYPE_CHECKING, Any, Dict, List


class Record(Dict[str, Any]):
    """A dict in which `r.memory.peak_bytes` is `r["memory"]["peak_bytes"]`."""

    if not TYPE_CHECKING:  # type checkers know the keys of each class, and find what is none
        def __getattr__(self, key):
            if key in self:
                return self[key]
            near = difflib.get_close_matches(key, self, n=1)
            proposal = f", did you mean {near[0]!r}?" if near else ""
            raise AttributeError(f"no {key!r} here{proposal}")

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *filter(str.isidentifier, self)]
