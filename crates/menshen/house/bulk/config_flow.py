from homeassistant.config_entries import ConfigFlow


class Flow(ConfigFlow, domain="bulk_home"):
    async def async_step_import(self, data):
        return self.async_create_entry(title="Bulk", data=data)
