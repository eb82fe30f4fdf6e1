from homeassistant.components.text import TextEntity

from .base import HouseEntity, setup


class Text(HouseEntity, TextEntity):
    def begin(self, row):
        self._attr_native_value = row["state"]
        self._attr_native_max = 60

    async def async_set_value(self, value):
        self.put(native_value=value)


async_setup_entry = setup("text", Text)
