from homeassistant.components import vacuum
from homeassistant.components.vacuum import StateVacuumEntity, VacuumEntityFeature

from .base import HouseEntity, features, setup

# From 2025.1 on a vacuum has an activity; before, its state is a text.
ACTIVITY = getattr(vacuum, "VacuumActivity", None)


class Vacuum(HouseEntity, StateVacuumEntity):
    _attr_fan_speed_list = ["quiet", "standard", "strong"]
    _attr_fan_speed = "standard"
    _attr_supported_features = features(
        VacuumEntityFeature, "START", "PAUSE", "STOP", "RETURN_HOME", "LOCATE", "FAN_SPEED", "STATE"
    )

    def begin(self, row):
        self.become(row["state"])

    def become(self, word):
        if ACTIVITY:
            self._attr_activity = ACTIVITY(word)
        else:
            self._attr_state = word

    def show(self, word):
        self.become(word)
        self.async_write_ha_state()

    async def async_start(self):
        self.show("cleaning")

    async def async_pause(self):
        self.show("paused")

    async def async_stop(self, **kwargs):
        self.show("idle")

    async def async_return_to_base(self, **kwargs):
        self.show("docked")

    async def async_locate(self, **kwargs):
        pass

    async def async_set_fan_speed(self, fan_speed, **kwargs):
        self.put(fan_speed=fan_speed)


async_setup_entry = setup("vacuum", Vacuum)
