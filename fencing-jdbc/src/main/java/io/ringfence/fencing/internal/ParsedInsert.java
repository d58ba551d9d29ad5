package io.ringfence.fencing.internal;

import java.util.List;

/**
 * What an INSERT writes.
 *
 * @param columns the tokens of each column
 * @param rows the tokens of each value of each row; the items of its list if a SELECT supplies the rows
 * @param isSelect whether a SELECT supplies the rows
 * @param conflict what happens to a row that is there already
 */
record ParsedInsert(
        List<List<SqlToken>> columns, List<List<List<SqlToken>>> rows, boolean isSelect, Conflict conflict) {

    enum Conflict {
        FAIL,
        DO_NOTHING,
        DO_UPDATE
    }
}
