from homeassistant.components.water_heater import WaterHeaterEntity, WaterHeaterEntityFeature
from homeassistant.const import UnitOfTemperature

from .base import HouseEntity, features, setup


class Heater(HouseEntity, WaterHeaterEntity):
    _attr_temperature_unit = UnitOfTemperature.CELSIUS
    _attr_operation_list = ["off", "eco", "performance"]
    _attr_min_temp = 30
    _attr_max_temp = 75
    _attr_supported_features = features(
        WaterHeaterEntityFeature, "TARGET_TEMPERATURE", "OPERATION_MODE", "ON_OFF"
    )

    def begin(self, row):
        self._attr_current_operation = row["state"]
        self._attr_target_temperature = row["temperature"]
        self._attr_current_temperature = row["current"]

    async def async_set_temperature(self, **kwargs):
        if kwargs.get("temperature") is not None:
            self.put(target_temperature=kwargs["temperature"])

    async def async_set_operation_mode(self, operation_mode):
        self.put(current_operation=operation_mode)

    async def async_turn_on(self, **kwargs):
        self.put(current_operation="eco")

    async def async_turn_off(self, **kwargs):
        self.put(current_operation="off")


async_setup_entry = setup("water_heater", Heater)
