from homeassistant.components.fan import FanEntity, FanEntityFeature

from .base import HouseEntity, features, setup


class Fan(HouseEntity, FanEntity):
    _enable_turn_on_off_backwards_compatibility = False

    def begin(self, row):
        self._attr_is_on = self.on = row["state"] == "on"
        names = ["TURN_ON", "TURN_OFF"]
        if row.get("speeds"):
            names.append("SET_SPEED")
            self._attr_percentage = 50 if self.on else 0
            self._attr_speed_count = 4
        if "presets" in row:
            names.append("PRESET_MODE")
            self._attr_preset_modes = row["presets"]
            self._attr_preset_mode = None
        self._attr_supported_features = features(FanEntityFeature, *names)

    @property
    def is_on(self):
        return self.on

    def turn(self, on, **change):
        self.on = on
        self.put(**change)

    async def async_turn_on(self, percentage=None, preset_mode=None, **kwargs):
        if preset_mode is not None:
            self.turn(True, preset_mode=preset_mode)
        elif self.row.get("speeds"):
            self.turn(True, percentage=percentage or self._attr_percentage or 50)
        else:
            self.turn(True)

    async def async_turn_off(self, **kwargs):
        self.turn(False, **({"percentage": 0} if self.row.get("speeds") else {}))

    async def async_set_percentage(self, percentage):
        self.turn(percentage > 0, percentage=percentage)

    async def async_set_preset_mode(self, preset_mode):
        self.turn(True, preset_mode=preset_mode)


async_setup_entry = setup("fan", Fan)
