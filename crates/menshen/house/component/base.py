"""What all entities of the house share: their row of house.json."""

import json
import pathlib

from homeassistant.helpers.entity import Entity, EntityCategory

DOMAIN = "menshen_house"
ROWS = json.loads(pathlib.Path(__file__).with_name("house.json").read_text(encoding="utf-8"))["own"]


class HouseEntity(Entity):
    _attr_should_poll = False
    _attr_has_entity_name = False

    def __init__(self, row):
        self.row = row
        self.entity_id = row["id"]
        self._attr_unique_id = row["id"]
        self._attr_name = row[row["shown"]]
        self._attr_available = not row.get("unavailable", False)
        self._attr_entity_registry_enabled_default = not row.get("disabled", False)
        self._attr_entity_registry_visible_default = not row.get("hidden", False)
        if "class" in row:
            self._attr_device_class = row["class"]
        if "category" in row:
            self._attr_entity_category = EntityCategory(row["category"])
        if "device" in row:
            self._attr_device_info = {
                "identifiers": {(DOMAIN, row["device"])},
                "name": row["device"],
                "manufacturer": "Menshen",
                "model": "3-way socket",
            }
        self.begin(row)

    def begin(self, row):
        """Take the seeded state from the row."""

    def put(self, **attributes):
        """Set `_attr_*` values and show them."""
        for name, value in attributes.items():
            setattr(self, f"_attr_{name}", value)
        self.async_write_ha_state()


def setup(domain, make):
    """`async_setup_entry` of one platform."""

    async def async_setup_entry(hass, entry, add):
        add([make(row) for row in ROWS if row["id"].startswith(f"{domain}.")])

    return async_setup_entry


def features(flags, *names):
    """Those of the named features that this release knows."""
    known = flags(0)
    for name in names:
        known |= getattr(flags, name, flags(0))
    return known


class OnOff(HouseEntity):
    def begin(self, row):
        self._attr_is_on = row["state"] == "on"

    async def async_turn_on(self, **kwargs):
        self.put(is_on=True)

    async def async_turn_off(self, **kwargs):
        self.put(is_on=False)
