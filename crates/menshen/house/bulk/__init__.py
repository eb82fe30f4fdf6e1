"""Any number of entities without meaning, to measure with: `bulk_home: {count: 5000}`.

They come after the house has started, a share at a time: newer releases refuse more than 10,000
entities of one entry, and more than 10,000 events out of one. `bulk_home.entities` counts them.
"""

from homeassistant.const import EVENT_HOMEASSISTANT_STARTED
from homeassistant.core import callback
from homeassistant.helpers import area_registry

PLATFORMS = ["sensor", "binary_sensor", "switch", "light", "lock", "cover"]
SHARE = 5000


async def async_setup(hass, config):
    if "bulk_home" not in config or hass.config_entries.async_entries("bulk_home"):
        return True
    areas = area_registry.async_get(hass)
    for number in range(40):
        areas.async_get_or_create(f"Bulk room {number}")
    count = config["bulk_home"]["count"]

    async def grow():
        for first in range(0, count, SHARE):
            last = min(first + SHARE, count)
            await hass.config_entries.flow.async_init(
                "bulk_home", context={"source": "import"}, data={"first": first, "last": last}
            )
            await hass.async_block_till_done()
            hass.states.async_set("bulk_home.entities", last)

    @callback
    def started(_event):
        hass.async_create_background_task(grow(), "bulk_home")

    hass.bus.async_listen_once(EVENT_HOMEASSISTANT_STARTED, started)
    return True


async def async_setup_entry(hass, entry):
    await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)
    return True
