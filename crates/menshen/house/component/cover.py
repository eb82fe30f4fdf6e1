import asyncio

from homeassistant.components.cover import CoverEntity, CoverEntityFeature

from .base import HouseEntity, features, setup


class Cover(HouseEntity, CoverEntity):
    """Moves at once, or after `travel_secs` when the row says so."""

    def begin(self, row):
        self.travel = None
        names = ["OPEN", "CLOSE", "STOP"]
        if "position" in row:
            names.append("SET_POSITION")
            self._attr_current_cover_position = row["position"]
            self._attr_is_closed = row["position"] == 0
        else:
            self._attr_is_closed = row["state"] == "closed"
        if "tilt" in row:
            names += ["OPEN_TILT", "CLOSE_TILT", "SET_TILT_POSITION"]
            self._attr_current_cover_tilt_position = row["tilt"]
        self._attr_supported_features = features(CoverEntityFeature, *names)

    async def go(self, position, opening):
        self.halt()
        seconds = self.row.get("travel_secs", 0)
        if seconds:
            self.put(is_opening=opening, is_closing=not opening)
            self.travel = self.hass.async_create_task(self.arrive(position, seconds))
        else:
            self.reach(position)

    async def arrive(self, position, seconds):
        await asyncio.sleep(seconds)
        self.reach(position)

    def halt(self):
        if self.travel:
            self.travel.cancel()
            self.travel = None

    def reach(self, position):
        change = {"is_opening": False, "is_closing": False, "is_closed": position == 0}
        if "position" in self.row:
            change["current_cover_position"] = position
        self.put(**change)

    async def async_open_cover(self, **kwargs):
        await self.go(100, True)

    async def async_close_cover(self, **kwargs):
        await self.go(0, False)

    async def async_set_cover_position(self, position, **kwargs):
        await self.go(position, position > (self._attr_current_cover_position or 0))

    async def async_stop_cover(self, **kwargs):
        self.halt()
        if self._attr_is_opening or self._attr_is_closing:
            self.reach(50)

    async def async_open_cover_tilt(self, **kwargs):
        self.put(current_cover_tilt_position=100)

    async def async_close_cover_tilt(self, **kwargs):
        self.put(current_cover_tilt_position=0)

    async def async_set_cover_tilt_position(self, tilt_position, **kwargs):
        self.put(current_cover_tilt_position=tilt_position)


async_setup_entry = setup("cover", Cover)
