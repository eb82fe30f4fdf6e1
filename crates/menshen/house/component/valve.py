from homeassistant.components.valve import ValveEntity, ValveEntityFeature

from .base import HouseEntity, features, setup


class Valve(HouseEntity, ValveEntity):
    def begin(self, row):
        self._attr_reports_position = "position" in row
        names = ["OPEN", "CLOSE"]
        if self._attr_reports_position:
            names.append("SET_POSITION")
            self._attr_current_valve_position = row["position"]
        else:
            self._attr_is_closed = row["state"] == "closed"
        self._attr_supported_features = features(ValveEntityFeature, *names)

    def reach(self, position):
        if self._attr_reports_position:
            self.put(current_valve_position=position)
        else:
            self.put(is_closed=position == 0)

    async def async_open_valve(self, **kwargs):
        self.reach(100)

    async def async_close_valve(self, **kwargs):
        self.reach(0)

    async def async_set_valve_position(self, position, **kwargs):
        self.reach(position)


async_setup_entry = setup("valve", Valve)
