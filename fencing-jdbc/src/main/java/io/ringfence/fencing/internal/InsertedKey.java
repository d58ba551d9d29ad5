package io.ringfence.fencing.internal;

import java.util.ArrayList;
import java.util.List;

/**
 * A key column of an INSERT and its plain value.
 *
 * @param column the column, as it stands among the columns
 * @param value the value in one row
 */
record InsertedKey(List<SqlToken> column, List<SqlToken> value) {

    /** Returns the key of each row; nothing unless every row has a plain value for every column of the key. */
    static List<List<InsertedKey>> find(Dialect dialect, ParsedInsert insert, List<SqlName> columns) {
        if (insert.isSelect() || columns.isEmpty()) {
            return List.of();
        }
        List<List<InsertedKey>> rows = new ArrayList<>();
        for (List<List<SqlToken>> values : insert.rows()) {
            List<InsertedKey> row = new ArrayList<>();
            for (SqlName column : columns) {
                for (int i = 0; i < values.size(); i++) {
                    List<SqlToken> name = insert.columns().get(i);
                    if (ParsedInsert.isColumn(dialect, name, column) && SqlValues.isValue(values.get(i))) {
                        row.add(new InsertedKey(name, values.get(i)));
                    }
                }
            }
            if (row.size() != columns.size()) {
                return List.of();
            }
            rows.add(row);
        }
        return rows;
    }
}
