package io.ringfence.fencing.jooq;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jooq.Condition;
import org.jooq.Field;
import org.jooq.Param;
import org.jooq.impl.DSL;
import org.jooq.impl.QOM;
import org.jspecify.annotations.Nullable;

/**
 * The comparisons of the key columns with values, taken from the parts of a condition that are joined by AND at its top.
 *
 * @param condition the comparisons, joined by AND
 * @param text the same for messages, for example {@code id = 7}
 */
record KeyCondition(Condition condition, String text) {

    /**
     * Finds them.
     *
     * @param qualifier what must stand before each column, or null if nothing needs to
     */
    static Optional<KeyCondition> find(@Nullable Condition condition, List<String> keys, @Nullable String qualifier) {
        List<Condition> parts = new ArrayList<>();
        split(condition, parts);
        List<QOM.Eq<?>> found = new ArrayList<>();
        for (String key : keys) {
            int before = found.size();
            for (Condition part : parts) {
                if (part instanceof QOM.Eq<?> comparison && compares(comparison, key, qualifier)) {
                    found.add(comparison);
                }
            }
            if (found.size() == before) {
                return Optional.empty();
            }
        }
        return found.isEmpty() ? Optional.empty() : Optional.of(of(found));
    }

    private static KeyCondition of(List<QOM.Eq<?>> comparisons) {
        String text = comparisons.stream().map(KeyCondition::text).collect(Collectors.joining(" AND "));
        return new KeyCondition(DSL.and(comparisons), text);
    }

    private static void split(@Nullable Condition condition, List<Condition> parts) {
        if (condition instanceof QOM.And and) {
            split(and.$arg1(), parts);
            split(and.$arg2(), parts);
        } else if (condition != null) {
            parts.add(condition);
        }
    }

    private static boolean compares(QOM.Eq<?> comparison, String key, @Nullable String qualifier) {
        return (isColumn(comparison.$arg1(), key, qualifier) && comparison.$arg2() instanceof Param)
                || (comparison.$arg1() instanceof Param && isColumn(comparison.$arg2(), key, qualifier));
    }

    private static boolean isColumn(Field<?> field, String key, @Nullable String qualifier) {
        if (field instanceof Param || !field.getName().equals(key)) {
            return false;
        }
        String[] parts = field.getQualifiedName().getName();
        return qualifier == null || (parts.length > 1 && parts[parts.length - 2].equals(qualifier));
    }

    private static String text(QOM.Eq<?> comparison) {
        boolean reversed = comparison.$arg1() instanceof Param;
        Field<?> column = reversed ? comparison.$arg2() : comparison.$arg1();
        Field<?> other = reversed ? comparison.$arg1() : comparison.$arg2();
        return column.getName() + " = " + (other instanceof Param<?> parameter ? parameter.getValue() : null);
    }
}
