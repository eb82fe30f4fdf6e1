from homeassistant.components.light import ColorMode, LightEntity

from .base import OnOff, setup


class Light(OnOff, LightEntity):
    domain = "light"
    _attr_color_mode = ColorMode.ONOFF
    _attr_supported_color_modes = {ColorMode.ONOFF}


async_setup_entry = setup(0.12, Light)
