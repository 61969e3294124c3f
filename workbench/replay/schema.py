"""Holding a value against a JSON schema. Nothing is fetched, whatever a schema refers to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.replay.diff import step

#: Faults of one value that are told.
MAX_FAULTS = 20

#: Characters of a fault that are told: it may quote the whole value.
MAX_TEXT = 200


def faults(schema: Any, value: Any) -> Iterator[tuple[str, str]]:
    """What is wrong with a value, as pointer and sentence. A schema that cannot be used is one fault."""
    # Loading it takes longer than most verifications, and few need it.
    from jsonschema import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    try:
        kind = validator_for(schema, default=Draft202012Validator)
        kind.check_schema(schema)
        for count, error in enumerate(kind(schema, registry=Registry()).iter_errors(value)):
            if count == MAX_FAULTS:
                return
            pointer = ""
            for part in error.absolute_path:
                pointer = step(pointer, str(part))
            yield pointer, error.message[:MAX_TEXT]
    except SchemaError as error:
        yield "", f"the outputSchema is no schema: {error.message[:MAX_TEXT]}"
    except Unresolvable as error:
        yield "", f"the outputSchema refers to what it does not hold: {str(error)[:MAX_TEXT]}"
    except RecursionError:
        yield "", "the outputSchema or the value is nested too deeply to be compared"
