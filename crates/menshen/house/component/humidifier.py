from homeassistant.components.humidifier import HumidifierEntity, HumidifierEntityFeature

from .base import OnOff, features, setup


class Humidifier(OnOff, HumidifierEntity):
    def begin(self, row):
        super().begin(row)
        self._attr_target_humidity = row["humidity"]
        self._attr_available_modes = row["presets"]
        self._attr_mode = row["presets"][0]
        self._attr_supported_features = features(HumidifierEntityFeature, "MODES")

    async def async_set_humidity(self, humidity):
        self.put(target_humidity=humidity)

    async def async_set_mode(self, mode):
        self.put(mode=mode)


async_setup_entry = setup("humidifier", Humidifier)
