/* What the importers share.  A file becomes a source: chunks of rows, each cut at line ends so that
 * they can be parsed at the same time.  A chunk holds the rows' values one after another, where
 * each channel of each row ends, and the labels as text; nothing is decided about lengths, missing
 * values (kept as NaN) and classes until all files are read. */
#ifndef SC_IMPORT_INTERNAL_H
#define SC_IMPORT_INTERNAL_H

#include <stdint.h>

#include "base/digest.h"
#include "formats/import.h"

struct import_row {
    size_t line;      /* from 0 in its chunk */
    size_t label;     /* where its text starts in the chunk's labels */
    size_t group;     /* same for the name of its group */
    int32_t text_id;  /* which of the distinct labels it is */
    int32_t group_id; /* which of the distinct groups */
};

/* What is wrong with a row, and how many others have the same. */
struct import_problem {
    size_t line; /* of the first, from 0 in its chunk; once all chunks are parsed, in the file */
    long key; /* the column, or an import_key; 0: rows are grouped if the messages are the same */
    size_t rows;
    char *message;
};

enum { IMPORT_MOST_PROBLEMS = 20 };
enum import_key { IMPORT_KEY_LENGTH = -1, IMPORT_KEY_MISSING = -2, IMPORT_KEY_LABEL = -3 };

struct import_problems {
    struct import_problem items[IMPORT_MOST_PROBLEMS];
    size_t count;
    size_t others; /* rows with yet other problems */
};

struct import_source;

struct import_chunk {
    const struct import_source *source;
    const char *start, *end; /* its text */
    size_t first_line;       /* number of its first line in the file, once all chunks are parsed */
    size_t lines;
    struct error *error;              /* that ends the import: too little memory, for example */
    struct import_problems *problems; /* of its rows, or NULL */
    size_t bad_column;                /* of the row that is being parsed; 0: none */

    size_t channels; /* of every row; 0 before the first */
    float *values;
    size_t value_count, value_room;
    bool has_missing;
    struct import_row *rows;
    size_t row_count, row_room;
    size_t *ends; /* (row, channel): where its values end; NULL when each has fixed_length */
    size_t end_count, end_room;
    size_t fixed_length;
    char *labels; /* texts of labels and groups, each with a final zero byte */
    size_t label_size, label_room;
};

/* How rows of text are laid out. */
struct import_syntax {
    char separator;       /* between values; 0: white space */
    const char *comments; /* lines that start with one of these are skipped; NULL: none are */
    bool quotes;          /* fields may be quoted */
    bool label_last;      /* else first */
    bool labelled;
    bool grouped;
    bool relational;    /* ARFF: channels are in one quoted field */
    bool decimal_comma; /* 0,5 is a half */
    size_t columns;     /* number of the column of the first value; 0: positions are named by
                           channel and step */
    size_t channels;    /* that the header declares, or 0 */
    size_t steps;       /* that the header declares, or 0 */
    const char *header; /* "@seriesLength": who declared the steps */
};

/* What a column of text is for. */
enum import_role { IMPORT_VALUE, IMPORT_LABEL, IMPORT_GROUP, IMPORT_DROP };

/* The columns of a table: what the header calls them, and what they are for.  Rows may have more of
 * them, which are values. */
struct import_columns {
    size_t count;
    char **names;              /* NULL without a header */
    unsigned char *roles;      /* NULL: all are values but the label, which is first or last */
    const char *row, *row_end; /* the first row of data, or NULL */
    const char *end;           /* of all rows */
};

struct import_remark {
    char *text;
    bool warning;
};

struct import_remarks {
    struct import_remark *items;
    size_t count, room;
};

struct import_source {
    char *name; /* for messages */
    const struct import_options *options;
    struct import_syntax syntax;
    struct import_columns columns;
    struct import_problems *problems; /* of all chunks, or NULL */
    struct import_remarks *remarks;   /* of the import */
    bool in_rows;                     /* text: positions are lines; else series */
    struct import_chunk *chunks;
    size_t chunk_count;
    char **declared; /* labels that the header lists */
    size_t declared_count;
    char digest[DIGEST_TEXT], label_digest[DIGEST_TEXT], group_digest[DIGEST_TEXT];
    char *notes; /* provenance that the file has, or NULL */

    unsigned char *bytes; /* of the file, mapped or read; NULL when the caller has them */
    size_t size;
    struct spill *spill;    /* what the chunks of a large text hold, or NULL: it is in memory */
    struct mapped *mapped;  /* NULL: read */
    struct npy_array array; /* what the values live in, for arrays */
    void *member;           /* what the array lives in, for NPZ: scratch.h */
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

/* Adds the number start..stop, a whole field, to the channel that is being parsed. */
struct error *import_value(struct import_chunk *chunk, const char *start, const char *stop,
                           size_t column) MUST_CHECK;

/* Ends the channel that is being parsed value by value. */
struct error *import_end_channel(struct import_chunk *chunk) MUST_CHECK;

/* Adds a text to the chunk's labels: a label, or the name of a group. */
struct error *import_add_text(struct import_chunk *chunk, const char *what, const char *text,
                              size_t length) MUST_CHECK;

/* Adds the number start..end as a label or a value would be, with a point or a comma as the syntax
 * says.  False if it is not a number; NaN where it is missing. */
bool import_number(const struct import_syntax *syntax, const char *start, const char *end,
                   double *number);

/* Ends the row that is being parsed, with its label (NULL: none). */
struct error *import_end_row(struct import_chunk *chunk, const char *label,
                             size_t length) MUST_CHECK;

/* Removes what a row with a problem has added: there were `rows` rows before it. */
void import_drop_row(struct import_chunk *chunk, size_t rows);

/* Cuts white space off both ends of *start..*end. */
void import_trim(const char **start, const char **end);

/* Takes quotes and what protects quotes inside them off a field, in a buffer that the caller frees.
 * escape is the protecting character. */
struct error *import_unquote(const char *start, const char *end, char escape, char **text,
                             size_t *length) MUST_CHECK;

/* The next line of *text..end, without its end, past which *text moves; false at the end. */
bool import_next_line(const char **text, const char *end, const char **line, const char **line_end);

/* Whether the word start..end is this one, in any case. */
bool import_is_word(const char *start, const char *end, const char *word);

/* "'start..end'" shortened and made printable, for messages. */
void import_quote(const char *start, const char *end, char quoted[64]);

/* Puts "FILE:LINE: " in front of the error. */
struct error *import_at_line(const struct import_source *source, size_t line,
                             struct error *error) MUST_CHECK;

/* Counts a problem of a row, and frees the error.  An error for lack of memory is handed back. */
struct error *import_add_problem(struct import_problems **problems, size_t line, long key,
                                 struct error *error) MUST_CHECK;

/* Adds all of *from, which is freed, with line added to their lines. */
struct error *import_move_problems(struct import_problems **from, size_t line,
                                   struct import_problems **to) MUST_CHECK;

void import_free_problems(struct import_problems *problems);

/* Remembers a remark, or a warning, for the user. */
struct error *import_note(struct import_remarks *remarks, bool warning, const char *format,
                          ...) MUST_CHECK __attribute__((format(printf, 3, 4)));

/* Adds to the labels that the header lists. */
struct error *import_declare(struct import_source *source, const char *label,
                             size_t length) MUST_CHECK;

/* Makes room for count elements in all, of size bytes each; array points to the pointer to them. */
struct error *import_reserve(void *array, size_t *room, size_t count, size_t size) MUST_CHECK;

/* ---- import-texts.c: distinct texts, numbered in order ---- */

struct import_text {
    char *text;
    double number; /* NaN if it is not one */
    int32_t index; /* once in order; those that are the same number have the same; -1: none */
};

struct import_texts {
    struct import_text *items;
    size_t count, room;
    size_t words;   /* that are not numbers */
    int32_t *slots; /* hash table of indices, -1 for free; a power of two of them */
    size_t slot_count;
};

struct error *import_texts_add(struct import_texts *texts, const char *text,
                               int32_t *id) MUST_CHECK;
/* Gives each its index: by value if all are numbers, else by code point.  *first, which the caller
 * frees, has the first text of each index, *count of them. */
struct error *import_texts_order(struct import_texts *texts, struct import_text ***first,
                                 size_t *count) MUST_CHECK;
void import_texts_free(struct import_texts *texts);

/* The finite number that a text is, else NaN. */
double import_to_number(const char *text);

/* ---- One file for each family of formats; errors name the file and the line ---- */

/* labels names a file of labels for an array, else it is NULL. */
typedef struct error *import_parser(struct import_source *source, const char *bytes, size_t size,
                                    const char *labels);
import_parser import_ucr, import_csv, import_ts, import_arff, import_npy, import_npz;

/* import-delimited.c: the line from *text on that is not empty and no comment; *number counts. */
bool import_first_line(const char **text, const char *end, const char **line, const char **line_end,
                       size_t *number);

/* The field that starts at *text, with its quotes; *text is moved past its separator, or to NULL at
 * the end of the line. */
void import_next_field(const struct import_syntax *syntax, const char **text, const char *end,
                       const char **start, const char **stop);

/* What the field of that column (from 0) is for.  Rows may be of unequal length: a label that is
 * last is last in each. */
enum import_role import_role_of(const struct import_source *source, size_t column, bool last);

/* import-columns.c: takes the names of a header line, or counts the columns of a row of data. */
struct error *import_take_columns(struct import_source *source, const char *line, const char *end,
                                  bool header) MUST_CHECK;
/* Whether a column of that name is likely to hold labels. */
bool import_is_label_name(const char *start, const char *end);
/* The column of that name or number; option is for the message if there is none. */
struct error *import_find_column(const struct import_source *source, const char *option,
                                 const char *name, size_t length, size_t *column) MUST_CHECK;
/* Decides what each column is for, from the options and the names. */
struct error *import_assign_columns(struct import_source *source) MUST_CHECK;
/* The number, from 1, of the column that holds this step. */
size_t import_column_of_step(const struct import_source *source, size_t step);
/* Says how a column can be left out or made the label, where most rows have no number there. */
struct error *import_hint_columns(struct import_source *source) MUST_CHECK;
void import_free_columns(struct import_columns *columns);

/* import-long.c: one value in a row. */
struct error *import_long(struct import_source *source, const char *data, const char *end,
                          size_t first_line, const char *bytes) MUST_CHECK;

/* import-npy.c: an array of series, and labels or groups for them. */
struct error *import_take_series(struct import_source *source, npy_reader *reader) MUST_CHECK;
struct error *import_take_labels(struct import_source *source, struct npy_array *labels,
                                 char *const *names, size_t name_count) MUST_CHECK;
struct error *import_take_groups(struct import_source *source, struct npy_array *groups) MUST_CHECK;
struct error *import_take_files(struct import_source *source, const char *labels) MUST_CHECK;

/* ---- When all files are read ---- */

/* Puts in front where the row is: "FILE:12: " or "FILE: series 12: ". */
struct error *import_at(const struct import_source *source, const struct import_chunk *chunk,
                        size_t row, struct error *error) MUST_CHECK;

/* Counts a problem of that row. */
struct error *import_row_problem(struct import_source *source, const struct import_chunk *chunk,
                                 size_t row, long key, struct error *error) MUST_CHECK;

/* import-classes.c: numbers the labels; fills dataset->y, classes and names. */
struct error *import_number_labels(struct import_source *sources, size_t count,
                                   const struct dataset *classes, struct import_remarks *remarks,
                                   struct dataset *dataset) MUST_CHECK;
/* Numbers the groups 0.. in the same order; fills dataset->groups, which is there. */
struct error *import_number_groups(struct import_source *sources, size_t count,
                                   struct dataset *dataset) MUST_CHECK;

/* import-series.c: makes the dataset with its series, of one length and with gaps filled.  Problems
 * go to the sources; then there is no dataset. */
struct error *import_join_series(struct import_source *sources, size_t count,
                                 const struct import_options *options,
                                 struct dataset *dataset) MUST_CHECK;

/* import-remarks.c: what looks wrong with the whole. */
struct error *import_look_over(const struct import_source *sources, size_t count,
                               const struct dataset *dataset,
                               struct import_remarks *remarks) MUST_CHECK;

#endif
