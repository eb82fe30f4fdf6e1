from homeassistant.components.light import ColorMode, LightEntity

from .base import OnOff, setup

MODES = {
    "onoff": {ColorMode.ONOFF},
    "brightness": {ColorMode.BRIGHTNESS},
    "white": {ColorMode.COLOR_TEMP},
    "color": {ColorMode.COLOR_TEMP, ColorMode.HS},
}


class Light(OnOff, LightEntity):
    _attr_min_color_temp_kelvin = 2700
    _attr_max_color_temp_kelvin = 6500

    def begin(self, row):
        super().begin(row)
        kind = row["light"]
        self._attr_supported_color_modes = MODES[kind]
        mode = {"onoff": ColorMode.ONOFF, "brightness": ColorMode.BRIGHTNESS}
        self._attr_color_mode = mode.get(kind, ColorMode.COLOR_TEMP)
        if kind != "onoff":
            self._attr_brightness = 255
        if kind in ("white", "color"):
            self._attr_color_temp_kelvin = 4000

    async def async_turn_on(self, **kwargs):
        change = {"is_on": True}
        if "brightness" in kwargs:
            change["brightness"] = kwargs["brightness"]
        if "color_temp_kelvin" in kwargs:
            change |= {"color_temp_kelvin": kwargs["color_temp_kelvin"], "color_mode": ColorMode.COLOR_TEMP}
        if "hs_color" in kwargs:
            change |= {"hs_color": kwargs["hs_color"], "color_mode": ColorMode.HS}
        self.put(**change)


async_setup_entry = setup("light", Light)
