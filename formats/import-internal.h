/* What the importers share.  A file becomes a source: chunks of rows, each cut at line ends so that
 * they can be parsed at the same time.  A chunk holds the rows' values one after another, where
 * each channel of each row ends, and the labels as text; nothing is decided about lengths, missing
 * values (kept as NaN) and classes until all files are there. */
#ifndef SC_IMPORT_INTERNAL_H
#define SC_IMPORT_INTERNAL_H

#include <stdint.h>

#include "base/digest.h"
#include "formats/import.h"

struct import_row {
    size_t line;     /* from 0 in its chunk */
    size_t label;    /* where its text starts in the chunk's labels */
    int32_t text_id; /* which of the distinct labels it is */
};

struct import_source;

struct import_chunk {
    const struct import_source *source;
    const char *start, *end; /* its text */
    size_t first_line;       /* number of its first line in the file, once all chunks are parsed */
    size_t lines;
    struct error *error; /* the first one, and its line in the chunk */
    size_t error_line;

    size_t channels; /* of every row; 0 before the first */
    float *values;
    size_t value_count, value_room;
    bool has_missing;
    struct import_row *rows;
    size_t row_count, row_room;
    size_t *ends; /* (row, channel): where its values end; NULL when each has fixed_length */
    size_t end_count, end_room;
    size_t fixed_length;
    char *labels; /* texts, each with a final zero byte */
    size_t label_size, label_room;
};

/* How rows of text are laid out. */
struct import_syntax {
    char separator;       /* between values; 0: white space */
    const char *comments; /* lines that start with one of these are skipped */
    bool quotes;          /* fields may be quoted */
    bool label_last;      /* else first */
    bool labelled;
    bool relational;    /* ARFF: channels are in one quoted field */
    size_t columns;     /* number of the column of the first value; 0: positions are named by
                           channel and step */
    size_t channels;    /* that the header declares, or 0 */
    size_t steps;       /* that the header declares, or 0 */
    const char *header; /* "@seriesLength": who declared the steps */
};

struct import_source {
    char *name; /* for messages */
    const struct import_options *options;
    struct import_syntax syntax;
    bool in_rows; /* text: positions are lines; else series */
    struct import_chunk *chunks;
    size_t chunk_count;
    char **declared; /* labels that the header lists */
    size_t declared_count;
    char digest[DIGEST_TEXT], label_digest[DIGEST_TEXT];
    char *notes; /* provenance that the file has, or NULL */

    unsigned char *bytes; /* of the file, mapped or read; NULL when the caller has them */
    size_t size;
    struct mapped *mapped;  /* NULL: read */
    struct npy_array array; /* what the values live in, for NPY */
};

/* ---- import-text.c: rows of text ---- */

/* Parses one line (without its end) into a row of the chunk. */
typedef struct error *import_line_parser(struct import_chunk *chunk, const char *line,
                                         const char *end);

/* Parses all lines from start to end, the first of which has the number first_line.  bytes is the
 * whole file, for its digest. */
struct error *import_lines(struct import_source *source, const char *start, const char *end,
                           size_t first_line, const char *bytes,
                           import_line_parser *parser) MUST_CHECK;

/* Adds the numbers of text..end, separated as the syntax says, as one channel of the row that is
 * being parsed.  what and first name the positions in messages ("column", 2). */
struct error *import_channel(struct import_chunk *chunk, const char *text, const char *end,
                             const char *what, size_t first) MUST_CHECK;

/* Ends the row that is being parsed, with its label (NULL: none). */
struct error *import_end_row(struct import_chunk *chunk, const char *label,
                             size_t length) MUST_CHECK;

/* Cuts white space off both ends of *start..*end. */
void import_trim(const char **start, const char **end);

/* Takes quotes and what protects quotes inside them off a field, in a buffer that the caller frees.
 * escape is the protecting character. */
struct error *import_unquote(const char *start, const char *end, char escape, char **text,
                             size_t *length) MUST_CHECK;

/* The next line of *text..end, without its end, which *text moves behind; false at the end. */
bool import_next_line(const char **text, const char *end, const char **line, const char **line_end);

/* Whether the word start..end is this one, in any case. */
bool import_is_word(const char *start, const char *end, const char *word);

/* "'start..end'" shortened and made printable, for messages. */
void import_quote(const char *start, const char *end, char quoted[64]);

/* Puts "FILE:LINE: " in front of the error. */
struct error *import_at_line(const struct import_source *source, size_t line,
                             struct error *error) MUST_CHECK;

/* Adds to the labels that the header lists. */
struct error *import_declare(struct import_source *source, const char *label,
                             size_t length) MUST_CHECK;

/* Makes room for count elements in all, of size bytes each; array points to the pointer to them. */
struct error *import_reserve(void *array, size_t *room, size_t count, size_t size) MUST_CHECK;

/* ---- One file for each family of formats; errors name the file and the line ---- */

struct error *import_delimited(struct import_source *source, const char *bytes, size_t size,
                               bool csv) MUST_CHECK;
struct error *import_ts(struct import_source *source, const char *bytes, size_t size) MUST_CHECK;
struct error *import_arff(struct import_source *source, const char *bytes, size_t size) MUST_CHECK;
struct error *import_npy(struct import_source *source, npy_reader *reader,
                         const char *labels) MUST_CHECK;

/* ---- What is done when all files are there ---- */

/* Puts in front where the row is: "FILE:12: " or "FILE: series 12: ". */
struct error *import_at(const struct import_source *source, const struct import_chunk *chunk,
                        size_t row, struct error *error) MUST_CHECK;

/* import-classes.c: numbers the labels; fills dataset->y, classes and names. */
struct error *import_number_labels(struct import_source *sources, size_t count,
                                   const struct dataset *classes, const char **warning,
                                   struct dataset *dataset) MUST_CHECK;

/* import-series.c: makes the dataset with its series, of one length and with gaps filled. */
struct error *import_join_series(struct import_source *sources, size_t count,
                                 const struct import_options *options,
                                 struct dataset *dataset) MUST_CHECK;

#endif
