#ifndef SIM_RUN_NUMBER_TEXT_H
#define SIM_RUN_NUMBER_TEXT_H

/*
 * Numbers as the result files write them: the shortest decimal text that reads back as the same value, with
 * '.' whatever the locale, so that files are the same on every machine and lose nothing.
 */
enum { NUMBER_TEXT = 32 };

/* NAN: "nan", infinite: "inf" or "-inf" (JSON writers ask isfinite first). Returns text. */
const char *number_text(char text[NUMBER_TEXT], double value);
/* The same for a value that was only kept as a float: "0.1", not "0.10000000149011612". */
const char *number_text_float(char text[NUMBER_TEXT], float value);

/* At most `digits` significant digits (1..15), for people: "1.23", "0.0042", "12300". */
const char *number_text_digits(char text[NUMBER_TEXT], double value, int digits);

#endif
