from homeassistant.components.button import ButtonEntity

from .base import HouseEntity, setup


class Button(HouseEntity, ButtonEntity):
    async def async_press(self):
        pass


async_setup_entry = setup("button", Button)
