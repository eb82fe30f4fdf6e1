"""Any number of entities without meaning, to measure with: `bulk_home: {count: 5000}`."""

from homeassistant.helpers import area_registry

PLATFORMS = ["sensor", "binary_sensor", "switch", "light", "lock", "cover"]


async def async_setup(hass, config):
    if "bulk_home" in config and not hass.config_entries.async_entries("bulk_home"):
        areas = area_registry.async_get(hass)
        for number in range(40):
            areas.async_get_or_create(f"Bulk room {number}")
        hass.async_create_task(
            hass.config_entries.flow.async_init(
                "bulk_home", context={"source": "import"}, data={"count": config["bulk_home"]["count"]}
            )
        )
    return True


async def async_setup_entry(hass, entry):
    await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)
    return True
