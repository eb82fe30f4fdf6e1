from homeassistant.components.switch import SwitchEntity

from .base import OnOff, setup


class Switch(OnOff, SwitchEntity):
    pass


async_setup_entry = setup("switch", Switch)
