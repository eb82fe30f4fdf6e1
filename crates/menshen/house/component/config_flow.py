from homeassistant.config_entries import ConfigFlow

from .base import DOMAIN


class Flow(ConfigFlow, domain=DOMAIN):
    async def async_step_import(self, data):
        return self.async_create_entry(title="Family house", data={})
