#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "sim/engine/error.h"

static const enum error_code codes[] = {ERROR_NONE,      ERROR_INTERNAL, ERROR_USAGE,      ERROR_INPUT,
                                        ERROR_THRESHOLD, ERROR_SYSTEM,   ERROR_INTERRUPTED};
#define CODES (sizeof codes / sizeof codes[0])

static void each_code_has_its_own_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < CODES; i++) {
        assert_true(strlen(error_code_text(codes[i])) > 0);
        assert_string_not_equal(error_code_text(codes[i]), "unknown error");
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(error_code_text(codes[i]), error_code_text(codes[j]));
    }
    assert_string_equal(error_code_text((enum error_code)77), "unknown error");
}

static void set_fills_and_returns_minus_one(void **state)
{
    struct error err = {.code = ERROR_NONE};

    (void)state;
    assert_int_equal(error_set(&err, ERROR_INPUT, "a.yaml:3:7", "found %d, want %s", 5, "less"), -1);
    assert_int_equal(err.code, ERROR_INPUT);
    assert_string_equal(err.place, "a.yaml:3:7");
    assert_string_equal(err.message, "found 5, want less");
}

static void the_first_error_stays(void **state)
{
    struct error err = {.code = ERROR_NONE};

    (void)state;
    error_set(&err, ERROR_INPUT, "cause", "first");
    assert_int_equal(error_set(&err, ERROR_SYSTEM, "above", "second"), -1);
    assert_int_equal(err.code, ERROR_INPUT);
    assert_string_equal(err.place, "cause");
    assert_string_equal(err.message, "first");

    error_clear(&err);
    assert_int_equal(err.code, ERROR_NONE);
    assert_string_equal(err.place, "");
    assert_string_equal(err.message, "");
    assert_int_equal(error_memory(&err, "pool"), -1);
    assert_int_equal(err.code, ERROR_SYSTEM);
    assert_string_equal(err.place, "pool");
    assert_string_equal(err.message, "out of memory");
}

static void nobody_has_to_listen(void **state)
{
    struct error err = {.code = ERROR_NONE};

    (void)state;
    assert_int_equal(error_set(NULL, ERROR_INPUT, "x", "y"), -1);
    assert_int_equal(error_set(&err, ERROR_INPUT, NULL, "y"), -1);
    assert_string_equal(err.place, "");
}

/* Long texts are cut, never overrun: a path of 600 characters, a message of 2,000. */
static void long_texts_are_cut(void **state)
{
    struct error err = {.code = ERROR_NONE};
    char place[601], message[2001];

    (void)state;
    memset(place, 'p', 600);
    place[600] = '\0';
    memset(message, 'm', 2000);
    message[2000] = '\0';
    error_set(&err, ERROR_INPUT, place, "%s", message);
    assert_int_equal(strlen(err.place), sizeof err.place - 1);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_code_has_its_own_text), cmocka_unit_test(set_fills_and_returns_minus_one),
        cmocka_unit_test(the_first_error_stays),      cmocka_unit_test(nobody_has_to_listen),
        cmocka_unit_test(long_texts_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
