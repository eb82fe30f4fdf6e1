from homeassistant.components.siren import SirenEntity, SirenEntityFeature

from .base import OnOff, features, setup


class Siren(OnOff, SirenEntity):
    _attr_supported_features = features(SirenEntityFeature, "TURN_ON", "TURN_OFF")


async_setup_entry = setup("siren", Siren)
