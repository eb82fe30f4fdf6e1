-- What the kernel keeps of a household's conversations. Texts in columns named like a type of the
-- kernel's ports are that type as JSON.

-- Accepted inputs; `turn` is null until one answered it.
CREATE TABLE inputs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    channel TEXT NOT NULL,
    client_id TEXT,
    input TEXT NOT NULL,
    turn TEXT
) STRICT;
CREATE UNIQUE INDEX inputs_once ON inputs (session, channel, client_id) WHERE client_id IS NOT NULL;
CREATE INDEX inputs_pending ON inputs (id) WHERE turn IS NULL;

-- A turn that began; `answered_at_ms` is null until it ended.
CREATE TABLE turns (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    turn TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    answered_at_ms INTEGER,
    principal TEXT,
    reply TEXT,
    ended TEXT,
    inputs TEXT,
    changes TEXT,
    usage TEXT,
    tokens INTEGER NOT NULL DEFAULT 0,
    cost_usd_micros INTEGER NOT NULL DEFAULT 0,
    undone INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX turns_open ON turns (number) WHERE answered_at_ms IS NULL;
CREATE INDEX turns_by_time ON turns (answered_at_ms, tokens, cost_usd_micros) WHERE answered_at_ms IS NOT NULL;
CREATE INDEX turns_by_session ON turns (session, answered_at_ms);
CREATE INDEX turns_to_undo ON turns (session, number) WHERE changes IS NOT NULL AND undone = 0;

CREATE TABLE turn_events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    turn TEXT NOT NULL REFERENCES turns (turn) ON DELETE CASCADE,
    event TEXT NOT NULL
) STRICT;
CREATE INDEX turn_events_by_turn ON turn_events (turn, number);

-- The history of sessions. A summary takes the place of the newest message that it stands for.
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    turn TEXT,
    role TEXT NOT NULL,
    message TEXT NOT NULL
) STRICT;
CREATE INDEX messages_by_session ON messages (session, id);
CREATE INDEX messages_by_turn ON messages (turn, id);

-- Replies that wait for delivery; one that was delivered is taken out.
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    turn TEXT NOT NULL,
    session TEXT NOT NULL,
    principal TEXT NOT NULL,
    reply TEXT NOT NULL,
    ended TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE schedules (
    id TEXT PRIMARY KEY,
    due TEXT NOT NULL,
    input TEXT NOT NULL,
    next_at_ms INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX schedules_by_time ON schedules (next_at_ms);

-- `value` holds what anybody may read, `sealed` a secret under the key whose fingerprint is `key_id`.
CREATE TABLE settings (
    space TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT,
    sealed BLOB,
    key_id BLOB,
    PRIMARY KEY (space, key),
    CHECK ((value IS NULL) <> (sealed IS NULL))
) STRICT, WITHOUT ROWID;

-- What happened, for those who watch; the oldest go when there are too many.
CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;
