from homeassistant.components.binary_sensor import BinarySensorEntity

from .base import HouseEntity, setup


class Binary(HouseEntity, BinarySensorEntity):
    def begin(self, row):
        self._attr_is_on = row["state"] == "on"


async_setup_entry = setup("binary_sensor", Binary)
