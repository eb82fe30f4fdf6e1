-- What was said is kept in files, line by line; here is where a line lies, by which it is found. It can be
-- made again from the files.
CREATE TABLE text_lines (
    id INTEGER PRIMARY KEY,
    file TEXT NOT NULL,
    -- Bytes before the line.
    offset INTEGER NOT NULL,
    at_s INTEGER NOT NULL,
    channel TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX text_lines_places ON text_lines (file, offset);
CREATE VIRTUAL TABLE text_lines_words USING fts5 (words, characters, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_'");
