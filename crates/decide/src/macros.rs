//! Which of the household's own scenes and scripts a phrase means.
