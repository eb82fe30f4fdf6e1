from homeassistant.components.media_player import (
    MediaPlayerEntity,
    MediaPlayerEntityFeature,
    MediaPlayerState,
)

from .base import HouseEntity, features, setup


class Player(HouseEntity, MediaPlayerEntity):
    def begin(self, row):
        names = [
            "TURN_ON", "TURN_OFF", "VOLUME_SET", "VOLUME_MUTE", "VOLUME_STEP", "PLAY", "PAUSE",
            "STOP", "NEXT_TRACK", "PREVIOUS_TRACK", "PLAY_MEDIA",
        ]
        self._attr_state = MediaPlayerState(row["state"])
        self._attr_volume_level = row["volume"]
        self._attr_is_volume_muted = False
        if "sources" in row:
            names.append("SELECT_SOURCE")
            self._attr_source_list = row["sources"]
            self._attr_source = row["sources"][0]
        self._attr_supported_features = features(MediaPlayerEntityFeature, *names)

    async def async_turn_on(self):
        self.put(state=MediaPlayerState.IDLE)

    async def async_turn_off(self):
        self.put(state=MediaPlayerState.OFF)

    async def async_set_volume_level(self, volume):
        self.put(volume_level=volume)

    async def async_mute_volume(self, mute):
        self.put(is_volume_muted=mute)

    async def async_media_play(self):
        self.put(state=MediaPlayerState.PLAYING)

    async def async_media_pause(self):
        self.put(state=MediaPlayerState.PAUSED)

    async def async_media_stop(self):
        self.put(state=MediaPlayerState.IDLE)

    async def async_media_next_track(self):
        self.put(state=MediaPlayerState.PLAYING)

    async def async_media_previous_track(self):
        self.put(state=MediaPlayerState.PLAYING)

    async def async_select_source(self, source):
        self.put(source=source)

    async def async_play_media(self, media_type, media_id, **kwargs):
        self.put(state=MediaPlayerState.PLAYING, media_content_id=media_id)


async_setup_entry = setup("media_player", Player)
