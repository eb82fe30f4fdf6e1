from homeassistant.components.lock import LockEntity
from homeassistant.exceptions import HomeAssistantError

from .base import HouseEntity, setup


class Lock(HouseEntity, LockEntity):
    def begin(self, row):
        self._attr_is_locked = row["state"] == "locked"
        self._attr_is_jammed = False
        if "code" in row:
            self._attr_code_format = r"^\d{4}$"

    def check(self, kwargs):
        if "code" in self.row and kwargs.get("code") != self.row["code"]:
            raise HomeAssistantError(f"Wrong code for {self.entity_id}")

    async def async_lock(self, **kwargs):
        self.check(kwargs)
        # A jamming bolt sticks at the first try and goes home at the second.
        jams = self.row.get("jams", False) and not self._attr_is_locked and not self._attr_is_jammed
        self.put(is_jammed=jams, is_locked=not jams)

    async def async_unlock(self, **kwargs):
        self.check(kwargs)
        self.put(is_jammed=False, is_locked=False)


async_setup_entry = setup("lock", Lock)
