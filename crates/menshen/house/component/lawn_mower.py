from homeassistant.components.lawn_mower import (
    LawnMowerActivity,
    LawnMowerEntity,
    LawnMowerEntityFeature,
)

from .base import HouseEntity, features, setup


class Mower(HouseEntity, LawnMowerEntity):
    _attr_supported_features = features(LawnMowerEntityFeature, "START_MOWING", "PAUSE", "DOCK")

    def begin(self, row):
        self._attr_activity = LawnMowerActivity(row["state"])

    async def async_start_mowing(self):
        self.put(activity=LawnMowerActivity.MOWING)

    async def async_pause(self):
        self.put(activity=LawnMowerActivity.PAUSED)

    async def async_dock(self):
        self.put(activity=LawnMowerActivity.DOCKED)


async_setup_entry = setup("lawn_mower", Mower)
