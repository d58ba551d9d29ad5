package io.ringfence.fencing.jooq;

import io.ringfence.fencing.internal.RowWrite.Found;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jooq.Condition;
import org.jooq.Field;
import org.jooq.FieldOrRow;
import org.jooq.FieldOrRowOrSelect;
import org.jooq.InsertQuery;
import org.jooq.Param;
import org.jooq.Query;
import org.jooq.Row;
import org.jooq.SQLDialect;
import org.jooq.Select;
import org.jooq.Table;
import org.jooq.impl.DSL;
import org.jooq.impl.QOM;
import org.jspecify.annotations.Nullable;

/** An INSERT, with what it does to a row that is there already: the rows that its values name. */
record InsertWrite(
        QOM.Insert<?> insert,
        List<? extends Field<?>> columns,
        TokenColumn column,
        List<String> keys,
        SQLDialect family)
        implements WriteModel {
    private static final String SELECTED = "ringfence_rows";

    /** What jOOQ calls columns of a table that it knows nothing of. */
    private static final String UNKNOWN = "unknown field ";

    static InsertWrite of(QOM.Insert<?> insert, TokenColumn column, List<String> keys, SQLDialect family) {
        InsertWrite write = new InsertWrite(insert, insert.$columns(), column, keys, family);
        boolean unknown =
                write.columns.isEmpty() || write.columns.get(0).getName().startsWith(UNKNOWN);
        if (unknown && !insert.$defaultValues()) {
            throw Refused.query(insert, "its columns are not known", "Name them");
        }
        if (insert.$onDuplicateKeyUpdate()) {
            write.requireConflictThatCounts();
        }
        return write;
    }

    private void requireConflictThatCounts() {
        insert.$updateSet().forEach((assigned, value) -> {
            if (!(value instanceof QOM.Excluded<?>)) {
                column.refuseIn(List.of(assigned), insert);
            }
        });
        if (family == SQLDialect.H2) {
            throw Refused.query(
                    insert,
                    "jOOQ writes it as MERGE for H2, which no fence is known to hold in",
                    "Update first, and insert after a NoMatchingRowException");
        }
        if (family == SQLDialect.MARIADB
                && (insert.$updateWhere() != null || keyRows().isEmpty())) {
            throw Refused.query(
                    insert,
                    "MariaDB's count does not tell what it wrote, and without plain values for the key, or with a"
                            + " WHERE, a read cannot tell either",
                    "Declare a key, give plain values for it, and leave the WHERE out");
        }
    }

    @Override
    public Table<?> target() {
        return insert.$into();
    }

    @Override
    public QOM.@Nullable With with() {
        return insert.$with();
    }

    @Override
    public Query fenced(Field<Long> token) {
        boolean takesOver = insert.$onDuplicateKeyUpdate();
        if (isPlain()
                && insert.$updateWhere(takesOver ? condition(token) : DSL.noCondition())
                        instanceof InsertQuery<?> copy) {
            // cheaper than one more copy for each part
            copy.addValue(column.alone(), token);
            if (takesOver) {
                copy.addValueForUpdate(column.alone(), token);
            }
            return copy;
        }
        QOM.Insert<?> brought = insert.$select() != null ? selected(token) : listed(token);
        return takesOver ? brought.$updateSet(assignments(token)).$updateWhere(condition(token)) : brought;
    }

    /** One row of values, and the token column nowhere yet. */
    private boolean isPlain() {
        return insert.$select() == null
                && !insert.$defaultValues()
                && columns.stream().noneMatch(column::is)
                && !assignsToken()
                && insert.$values().size() == 1;
    }

    private Condition condition(Field<Long> token) {
        Condition fence = TokenColumn.notNewer(column.of(target()), token);
        Condition own = insert.$updateWhere();
        return own == null ? fence : DSL.and(own, fence);
    }

    private Map<FieldOrRow, FieldOrRowOrSelect> assignments(Field<Long> token) {
        Map<FieldOrRow, FieldOrRowOrSelect> assignments = new LinkedHashMap<>();
        insert.$updateSet().forEach((assigned, value) -> {
            if (!(assigned instanceof Field<?> field && column.is(field))) {
                assignments.put(assigned, value);
            }
        });
        assignments.put(column.alone(), token);
        return assignments;
    }

    /** SET of all columns to what was to be inserted takes the token along. */
    private boolean assignsToken() {
        return insert.$updateSet().keySet().stream()
                .anyMatch(assigned -> assigned instanceof Field<?> field && column.is(field));
    }

    /** The rows of a SELECT become a derived table, to which the token is added. */
    private QOM.Insert<?> selected(Field<Long> token) {
        List<Field<?>> columns = new ArrayList<>(this.columns);
        column.refuseIn(columns, insert);
        String[] names = new String[columns.size()];
        for (int i = 0; i < names.length; i++) {
            names[i] = "c" + i;
        }
        Table<?> rows = insert.$select().asTable(SELECTED, names);
        List<Field<?>> items = new ArrayList<>(List.of(rows.fields()));
        if (items.size() != columns.size()) {
            throw Refused.query(
                    insert, "its SELECT does not name as many columns as it has", "Name all columns in both");
        }
        items.add(DSL.inline(((Param<Long>) token).getValue(), token));
        columns.add(column.alone());
        Select<?> all = DSL.select(items).from(rows);
        return insert.$columns(columns).$select(all);
    }

    private QOM.Insert<?> listed(Field<Long> token) {
        if (insert.$defaultValues()) {
            return insert.$defaultValues(false)
                    .$columns(List.of(column.alone()))
                    .$values(List.of(DSL.row(token)));
        }
        List<Field<?>> columns = new ArrayList<>(this.columns);
        int position = 0;
        while (position < columns.size() && !column.is(columns.get(position))) {
            position++;
        }
        boolean added = position == columns.size();
        if (added) {
            columns.add(column.alone());
        }
        List<Row> rows = new ArrayList<>();
        for (Row row : insert.$values()) {
            List<Field<?>> values = new ArrayList<>(List.of(row.fields()));
            if (added) {
                values.add(token);
            } else if (isFiller(values.get(position))) {
                values.set(position, token);
            } else {
                throw column.ownAssignment(insert);
            }
            rows.add(DSL.row(values));
        }
        return insert.$columns(columns).$values(rows);
    }

    /** An INSERT without a list of columns has to put something at the place of the token. */
    private static boolean isFiller(Field<?> value) {
        return value instanceof QOM.Default<?>
                || (value instanceof Param<?> parameter
                        && (parameter.getValue() == null
                                || (parameter.getValue() instanceof Number number && number.longValue() == 0)));
    }

    @Override
    public Optional<KeyCondition> key() {
        List<KeyCondition> rows = keyRows();
        return rows.size() == 1 ? Optional.of(rows.get(0)) : Optional.empty();
    }

    /** The key of each row; nothing unless every row has a plain value for every column of the key. */
    private List<KeyCondition> keyRows() {
        List<KeyCondition> found = new ArrayList<>();
        for (Row row : insert.$select() == null ? insert.$values() : List.<Row>of()) {
            List<Condition> comparisons = new ArrayList<>();
            for (int i = 0; i < columns.size(); i++) {
                if (row.field(i) instanceof Param<?> value && value.getValue() != null) {
                    comparisons.add(equal(columns.get(i), value));
                }
            }
            Optional<KeyCondition> key = KeyCondition.find(DSL.and(comparisons), keys, null);
            if (key.isEmpty()) {
                return List.of();
            }
            found.add(key.get());
        }
        return found;
    }

    @SuppressWarnings("unchecked")
    private static <T> Condition equal(Field<T> column, Param<?> value) {
        return DSL.field(column.getUnqualifiedName(), column.getDataType()).eq((Field<T>) value);
    }

    @Override
    public Optional<Condition> rows() {
        List<KeyCondition> rows = keyRows();
        return rows.isEmpty()
                ? Optional.empty()
                : Optional.of(DSL.or(rows.stream().map(KeyCondition::condition).toList()));
    }

    /** With no condition but the fence, a row that is there should have been taken over. */
    @Override
    public Field<Boolean> matching() {
        boolean takesOver = insert.$onDuplicateKeyUpdate() && insert.$updateWhere() == null;
        return takesOver ? DSL.field(DSL.count().gt(0)) : DSL.inline(false);
    }

    /** A row that has met another one by another key, or a trigger, is not explained by what has its own key. */
    @Override
    public boolean explains(Found found) {
        boolean tells =
                !meetsRows() || conflictsByKey() || (insert.$onConflict().isEmpty() && !insert.$onDuplicateKeyUpdate());
        return tells && found.rows() > 0 && key().isPresent();
    }

    @Override
    public boolean knowsSkipped() {
        return !meetsRows()
                || ((conflictsByKey() || readBack() > 0) && !keyRows().isEmpty());
    }

    /** Whether a row is there already if, and only if, one has the key; jOOQ does not tell a constraint that is named. */
    private boolean conflictsByKey() {
        Set<String> target = insert.$onConflict().stream().map(Field::getName).collect(Collectors.toSet());
        return family != SQLDialect.MARIADB
                && !keys.isEmpty()
                && target.equals(Set.copyOf(keys))
                && insert.$onConflictWhere() == null;
    }

    /** Whether a row that is there already is anything but an error. */
    private boolean meetsRows() {
        return insert.$onDuplicateKeyUpdate() || insert.$onDuplicateKeyIgnore();
    }

    @Override
    public int readBack() {
        return family == SQLDialect.MARIADB && insert.$onDuplicateKeyUpdate()
                ? (int) keyRows().stream().map(KeyCondition::text).distinct().count()
                : 0;
    }
}
