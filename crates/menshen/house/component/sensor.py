from homeassistant.components.sensor import SensorEntity

from .base import HouseEntity, setup


class Sensor(HouseEntity, SensorEntity):
    def begin(self, row):
        self._attr_native_value = row.get("state")
        self._attr_native_unit_of_measurement = row["unit"]
        self._attr_state_class = "measurement"


async_setup_entry = setup("sensor", Sensor)
