from homeassistant.helpers.entity import Entity


class BulkEntity(Entity):
    """One of many; four make a device, forty rooms share the devices."""

    _attr_should_poll = False
    _attr_has_entity_name = True
    domain = ""

    def __init__(self, number):
        self._attr_unique_id = f"{self.domain}-{number}"
        self._attr_name = f"{self.domain} {number} channel"
        self._attr_device_info = {
            "identifiers": {("bulk_home", f"dev-{number // 4}-{self.domain}")},
            "name": f"Device {self.domain} {number // 4}",
            "manufacturer": "Bulk",
            "model": "M1",
            "suggested_area": f"Bulk room {number % 40}",
        }
        self.begin(number)

    def put(self, **attributes):
        for name, value in attributes.items():
            setattr(self, f"_attr_{name}", value)
        self.async_write_ha_state()


class OnOff(BulkEntity):
    def begin(self, number):
        self._attr_is_on = False

    async def async_turn_on(self, **kwargs):
        self.put(is_on=True)

    async def async_turn_off(self, **kwargs):
        self.put(is_on=False)


def setup(share, make):
    """`async_setup_entry` of a platform that is this share of all."""

    async def async_setup_entry(hass, entry, add):
        first, last = (int(entry.data[end] * share) for end in ("first", "last"))
        add([make(number) for number in range(first, last)])

    return async_setup_entry
