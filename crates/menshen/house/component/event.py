from homeassistant.components.event import EventEntity

from .base import HouseEntity, setup


class Event(HouseEntity, EventEntity):
    _attr_event_types = ["ring"]


async_setup_entry = setup("event", Event)
