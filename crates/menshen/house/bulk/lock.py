from homeassistant.components.lock import LockEntity

from .base import BulkEntity, setup


class Lock(BulkEntity, LockEntity):
    domain = "lock"

    def begin(self, number):
        self._attr_is_locked = True

    async def async_lock(self, **kwargs):
        self.put(is_locked=True)

    async def async_unlock(self, **kwargs):
        self.put(is_locked=False)


async_setup_entry = setup(0.02, Lock)
