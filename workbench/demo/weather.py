"""Weather that never changes: the same place has the same weather in every run."""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple

UNITS = ("metric", "imperial", "kelvin")

#: Offered by completion, and listed as a resource.
CITIES = (
    "Berlin", "Cairo", "Lima", "London", "Melbourne", "Nairobi", "New York", "Oslo", "Paris",
    "Reykjavík", "San Francisco", "São Paulo", "Seoul", "Tokyo", "Ürümqi",
)  # fmt: skip

_SKIES = ("clear sky", "few clouds", "light rain", "thunderstorm", "fog", "snow showers", "overcast")
_SCALES = {"metric": "°C", "imperial": "°F", "kelvin": "K"}


class Weather(NamedTuple):
    """Weather at a place; the temperature in degrees Celsius, the wind in metres a second."""

    location: str
    celsius: float
    sky: str
    humidity: int
    wind: float


def weather_at(location: str, day: int = 0) -> Weather:
    """The weather of a place, worked out from its name; any name is a place."""
    seed = zlib.crc32(f"{location.strip().casefold()}/{day}".encode("utf-8", "replace"))
    cold = 15 if seed % 7 == 5 else 0
    return Weather(
        location=location.strip(),
        celsius=round((seed >> 3) % 300 / 10 + 2 - cold, 1),
        sky=_SKIES[seed % 7],
        humidity=30 + (seed >> 11) % 60,
        wind=round((seed >> 17) % 120 / 10, 1),
    )


def temperature(celsius: float, units: str) -> float:
    if units == "imperial":
        return round(celsius * 9 / 5 + 32, 1)
    if units == "kelvin":
        return round(celsius + 273.15, 2)
    return celsius


def in_words(weather: Weather, units: str) -> str:
    degrees = f"{temperature(weather.celsius, units):g} {_SCALES[units]}"
    air = f"humidity {weather.humidity} %, wind {weather.wind:g} m/s"
    return f"{weather.location}: {degrees}, {weather.sky}, {air}"


def as_data(weather: Weather, units: str) -> dict[str, Any]:
    return {
        "location": weather.location,
        "temperature": temperature(weather.celsius, units),
        "units": units,
        "sky": weather.sky,
        "humidity": weather.humidity,
        "wind": weather.wind,
    }
