from homeassistant.components.select import SelectEntity

from .base import HouseEntity, setup


class Select(HouseEntity, SelectEntity):
    def begin(self, row):
        self._attr_options = row["options"]
        self._attr_current_option = row["state"]

    async def async_select_option(self, option):
        self.put(current_option=option)


async_setup_entry = setup("select", Select)
