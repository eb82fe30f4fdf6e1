from homeassistant.components.number import NumberEntity

from .base import HouseEntity, setup


class Number(HouseEntity, NumberEntity):
    def begin(self, row):
        self._attr_native_value = row["state"]
        self._attr_native_min_value = row["min"]
        self._attr_native_max_value = row["max"]
        self._attr_native_step = row["step"]
        self._attr_native_unit_of_measurement = row.get("unit")

    async def async_set_native_value(self, value):
        self.put(native_value=value)


async_setup_entry = setup("number", Number)
