"""The family's comfort entities, held in memory: what Home Assistant's demo lacks.

Start at base.py. Every row of `own` in house.json becomes one entity with that very id, so the
table, the documentation and the house cannot differ.
"""

from .base import DOMAIN, ROWS

PLATFORMS = sorted({row["id"].split(".")[0] for row in ROWS})


async def async_setup(hass, config):
    if DOMAIN in config and not hass.config_entries.async_entries(DOMAIN):
        hass.async_create_task(
            hass.config_entries.flow.async_init(DOMAIN, context={"source": "import"}, data={})
        )
    return True


async def async_setup_entry(hass, entry):
    await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)
    return True
