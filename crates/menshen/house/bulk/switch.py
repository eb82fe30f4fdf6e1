from homeassistant.components.switch import SwitchEntity

from .base import OnOff, setup


class Switch(OnOff, SwitchEntity):
    domain = "switch"


async_setup_entry = setup(0.1, Switch)
