from homeassistant.components.climate import ClimateEntity, ClimateEntityFeature, HVACMode
from homeassistant.const import UnitOfTemperature

from .base import HouseEntity, features, setup


class Climate(HouseEntity, ClimateEntity):
    _attr_temperature_unit = UnitOfTemperature.CELSIUS
    _attr_target_temperature_step = 0.5
    _attr_min_temp = 10
    _attr_max_temp = 35
    _enable_turn_on_off_backwards_compatibility = False

    def begin(self, row):
        self._attr_hvac_modes = [HVACMode(mode) for mode in row["modes"]]
        self._attr_hvac_mode = HVACMode(row["state"])
        self._attr_target_temperature = row["temperature"]
        self._attr_current_temperature = row["current"]
        names = ["TARGET_TEMPERATURE", "TURN_ON", "TURN_OFF"]
        if "fan_modes" in row:
            names.append("FAN_MODE")
            self._attr_fan_modes = row["fan_modes"]
            self._attr_fan_mode = "auto"
        self._attr_supported_features = features(ClimateEntityFeature, *names)

    async def async_set_temperature(self, **kwargs):
        change = {}
        if kwargs.get("temperature") is not None:
            change["target_temperature"] = kwargs["temperature"]
        if kwargs.get("hvac_mode") is not None:
            change["hvac_mode"] = kwargs["hvac_mode"]
        self.put(**change)

    async def async_set_hvac_mode(self, hvac_mode):
        self.put(hvac_mode=hvac_mode)

    async def async_set_fan_mode(self, fan_mode):
        self.put(fan_mode=fan_mode)

    async def async_turn_on(self):
        if self._attr_hvac_mode == HVACMode.OFF:
            self.put(hvac_mode=self._attr_hvac_modes[1])

    async def async_turn_off(self):
        self.put(hvac_mode=HVACMode.OFF)


async_setup_entry = setup("climate", Climate)
