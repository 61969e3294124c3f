"""Arithmetic from text, by walking the syntax tree: nothing is ever executed."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

#: An exponent or factorial beyond this would keep the server busy for longer than anyone waits.
LARGEST_POWER = 1_000
LARGEST_FACTORIAL = 500
LONGEST_EXPRESSION = 1_000

Number = int | float


class ArithmeticProblem(Exception):
    """The expression cannot be worked out; the message says why."""


def _power(base: Number, exponent: Number) -> Any:
    if abs(exponent) > LARGEST_POWER or abs(base) > 10**100:
        raise ArithmeticProblem(f"powers above {LARGEST_POWER} are not worked out here")
    return base**exponent


def _factorial(number: Number) -> int:
    if number != int(number) or not 0 <= number <= LARGEST_FACTORIAL:
        raise ArithmeticProblem(f"factorial takes a whole number from 0 to {LARGEST_FACTORIAL}")
    return math.factorial(int(number))


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": _power,
}
_UNARY: dict[str, Callable[[Any], Any]] = {"UAdd": operator.pos, "USub": operator.neg}
_NAMES: dict[str, float] = {"pi": math.pi, "e": math.e, "tau": math.tau}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "ceil": math.ceil,
    "cos": math.cos,
    "exp": math.exp,
    "factorial": _factorial,
    "floor": math.floor,
    "log": math.log,
    "max": max,
    "min": min,
    "round": round,
    "sin": math.sin,
    "sqrt": math.sqrt,
    "tan": math.tan,
}


def calculate(expression: str) -> Number:
    """The value of an expression such as ``2 * (3 + 4)`` or ``sqrt(2) ^ 2``; ``^`` is a power.

    Raises ``ArithmeticProblem`` with a sentence for a person.
    """
    # Not needed to start, and it takes longer to load than the rest of this module.
    import ast

    if len(expression) > LONGEST_EXPRESSION:
        raise ArithmeticProblem(f"an expression may have {LONGEST_EXPRESSION} characters")
    try:
        tree = ast.parse(expression.strip().replace("^", "**"), mode="eval")
        value = _value(tree.body)
    except ArithmeticProblem:
        raise
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise ArithmeticProblem(f"{expression!r} is not an arithmetic expression") from None
    except ZeroDivisionError:
        raise ArithmeticProblem("division by zero") from None
    except OverflowError:
        raise ArithmeticProblem("the result is too large") from None
    if not isinstance(value, (int, float)):
        raise ArithmeticProblem("the result is not a real number")
    return value


def _value(node: Any) -> Any:
    kind = type(node).__name__
    if kind == "Constant" and type(node.value) in (int, float):
        return node.value
    if kind == "BinOp":
        apply = _BINARY.get(type(node.op).__name__)
        if apply is not None:
            return apply(_value(node.left), _value(node.right))
    if kind == "UnaryOp":
        sign = _UNARY.get(type(node.op).__name__)
        if sign is not None:
            return sign(_value(node.operand))
    if kind == "Name" and node.id in _NAMES:
        return _NAMES[node.id]
    if kind == "Call" and type(node.func).__name__ == "Name" and not node.keywords:
        function = _FUNCTIONS.get(node.func.id)
        if function is not None:
            return function(*map(_value, node.args))
    raise ArithmeticProblem("only numbers, + - * / // % ^, parentheses and plain functions are understood")


def as_text(value: Number) -> str:
    """Whole results without a fraction, others with at most 12 significant digits."""
    if isinstance(value, float):
        return f"{value:.12g}"
    try:
        return str(value)
    except ValueError:
        return f"a number of {value.bit_length()} bits"
