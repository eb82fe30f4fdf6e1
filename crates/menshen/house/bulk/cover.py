from homeassistant.components.cover import CoverEntity

from .base import BulkEntity, setup


class Cover(BulkEntity, CoverEntity):
    domain = "cover"

    def begin(self, number):
        self._attr_is_closed = True
        self._attr_device_class = "garage" if number % 5 == 0 else "blind"

    async def async_open_cover(self, **kwargs):
        self.put(is_closed=False)

    async def async_close_cover(self, **kwargs):
        self.put(is_closed=True)


async_setup_entry = setup(0.02, Cover)
