import datetime

from homeassistant.components.calendar import (
    CalendarEntity,
    CalendarEntityFeature,
    CalendarEvent,
)
from homeassistant.util import dt

from .base import HouseEntity, features, setup


class Calendar(HouseEntity, CalendarEntity):
    _attr_supported_features = features(CalendarEntityFeature, "CREATE_EVENT")

    def begin(self, row):
        tomorrow = (dt.now() + datetime.timedelta(days=1)).replace(hour=19, minute=0, second=0, microsecond=0)
        self.events = [self.entry("家长会 Parents' evening", tomorrow, tomorrow + datetime.timedelta(hours=1))]

    def entry(self, summary, start, end):
        return CalendarEvent(start=start, end=end, summary=summary)

    @property
    def event(self):
        return min(self.events, key=lambda event: event.start_datetime_local)

    async def async_get_events(self, hass, start_date, end_date):
        return [e for e in self.events if e.start_datetime_local < end_date and e.end_datetime_local > start_date]

    async def async_create_event(self, **kwargs):
        self.events.append(self.entry(kwargs["summary"], kwargs["dtstart"], kwargs["dtend"]))
        self.async_write_ha_state()


async_setup_entry = setup("calendar", Calendar)
