-- What is known about the household, and what it is searched by. The `search_` tables and those that end
-- in `_words` are an index that can be made again from the rest.

CREATE TABLE memory_entities (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    -- The name as it is compared.
    key TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    mentions INTEGER NOT NULL
) STRICT;
CREATE INDEX memory_entities_by_mentions ON memory_entities (mentions);

CREATE TABLE memory_facts (
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL REFERENCES memory_entities (id),
    relation TEXT NOT NULL,
    relation_key TEXT NOT NULL,
    target INTEGER NOT NULL REFERENCES memory_entities (id),
    text TEXT NOT NULL,
    told_at_ms INTEGER NOT NULL,
    told_by TEXT NOT NULL,
    session TEXT NOT NULL,
    single INTEGER NOT NULL,
    -- What it was forgotten by, while it can come back.
    forgotten TEXT
) STRICT;
CREATE UNIQUE INDEX memory_facts_once ON memory_facts (source, relation_key, target);
CREATE INDEX memory_facts_from ON memory_facts (source, told_at_ms) WHERE forgotten IS NULL;
CREATE INDEX memory_facts_to ON memory_facts (target, told_at_ms) WHERE forgotten IS NULL;
CREATE INDEX memory_facts_single ON memory_facts (source, relation_key, told_at_ms) WHERE forgotten IS NULL AND single = 1;
CREATE INDEX memory_facts_by_time ON memory_facts (told_at_ms) WHERE forgotten IS NULL;
CREATE INDEX memory_facts_by_session ON memory_facts (session) WHERE forgotten IS NULL;
CREATE INDEX memory_facts_by_relation ON memory_facts (relation_key) WHERE forgotten IS NULL;
CREATE INDEX memory_facts_forgotten ON memory_facts (forgotten) WHERE forgotten IS NOT NULL;

CREATE TABLE memory_documents (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    content TEXT NOT NULL,
    inserted_at_ms INTEGER NOT NULL,
    touched_at_ms INTEGER NOT NULL,
    -- When its facts went to the graph.
    promoted_at_ms INTEGER,
    -- What it was taken out by, while it can come back.
    taken TEXT
) STRICT;
CREATE INDEX memory_documents_untouched ON memory_documents (touched_at_ms) WHERE promoted_at_ms IS NULL AND taken IS NULL;
CREATE INDEX memory_documents_taken ON memory_documents (taken) WHERE taken IS NOT NULL;

CREATE TABLE memory_document_parts (
    id INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES memory_documents (id) ON DELETE CASCADE,
    content TEXT NOT NULL
) STRICT;
CREATE INDEX memory_document_parts_of ON memory_document_parts (document);

CREATE TABLE knowledge_files (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    bytes INTEGER NOT NULL,
    changed_at_ms INTEGER NOT NULL,
    -- Why nothing of it can be found, where that is so.
    problem TEXT
) STRICT;

CREATE TABLE knowledge_parts (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL REFERENCES knowledge_files (id) ON DELETE CASCADE,
    place TEXT NOT NULL,
    content TEXT NOT NULL
) STRICT;
CREATE INDEX knowledge_parts_of ON knowledge_parts (file);

-- In `words` what a text was cut into, in `characters` the same one character after the other, so that a
-- string is found however it was cut. Both hold words parted by blanks and nothing else.
CREATE VIRTUAL TABLE memory_facts_words USING fts5 (words, characters, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_'");
CREATE VIRTUAL TABLE memory_document_parts_words USING fts5 (words, characters, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_'");
CREATE VIRTUAL TABLE knowledge_parts_words USING fts5 (words, characters, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_'");

-- In how many texts a word stands; the empty word counts the texts.
CREATE TABLE search_terms (
    corpus INTEGER NOT NULL,
    term TEXT NOT NULL,
    texts INTEGER NOT NULL,
    PRIMARY KEY (corpus, term)
) STRICT, WITHOUT ROWID;

-- Pinyin without tones, of the words above.
CREATE TABLE search_spellings (
    spelling TEXT NOT NULL,
    term TEXT NOT NULL,
    PRIMARY KEY (spelling, term)
) STRICT, WITHOUT ROWID;

-- Meaning as numbers, where an embedding source is set.
CREATE TABLE search_vectors (
    corpus INTEGER NOT NULL,
    text INTEGER NOT NULL,
    model TEXT NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (corpus, text)
) STRICT, WITHOUT ROWID;
