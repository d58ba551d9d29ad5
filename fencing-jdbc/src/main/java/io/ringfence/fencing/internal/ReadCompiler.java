package io.ringfence.fencing.internal;

import io.ringfence.fencing.internal.ParsedInsert.Conflict;
import io.ringfence.fencing.internal.RowReads.Conclusion;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes the reads that explain what a statement did not write.
 *
 * <p>A statement that names further tables is read through EXISTS, so that each row of the target counts once. An INSERT
 * is looked up by the key among its values; what its conflict clause says more is not evaluated.
 */
final class ReadCompiler {
    private final ParsedStatement parsed;
    private final RowColumns columns;

    private ReadCompiler(ParsedStatement parsed, RowColumns columns) {
        this.parsed = parsed;
        this.columns = columns;
    }

    static RowReads compile(ParsedStatement parsed, RowColumns columns) {
        ReadCompiler compiler = new ReadCompiler(parsed, columns);
        return parsed.insert() == null ? compiler.ofWrite() : compiler.ofInsert(parsed.insert());
    }

    private RowReads ofWrite() {
        String qualifier = parsed.from() == null ? null : parsed.reference();
        List<List<SqlToken>> key =
                Conjuncts.of(parsed.dialect(), parsed.condition()).keys(columns.keys(), qualifier);
        SqlTemplate.Builder diagnosis = start();
        diagnosis.append(parsed.dialect() == Dialect.MARIADB ? "max((" : "bool_or((");
        condition(diagnosis).append("\n) IS TRUE)");
        from(diagnosis);
        if (key.isEmpty()) {
            condition(diagnosis);
        } else {
            String separator = "";
            for (List<SqlToken> comparison : key) {
                diagnosis.append(separator).copy(comparison);
                separator = "\n) AND (";
            }
        }
        return new RowReads(
                keyText(key), Conclusion.ALWAYS, end(diagnosis), endOfSkipped(condition(from(start().append("TRUE")))));
    }

    private RowReads ofInsert(ParsedInsert insert) {
        List<List<InsertedKey>> keys = InsertedKey.find(parsed.dialect(), insert, columns.keys());
        boolean fenceOnly = parsed.condition().size() == 1;
        SqlTemplate.Builder diagnosis = from(start().append(fenceOnly ? "count(*) > 0" : "FALSE"));
        boolean writesOverNothing = insert.conflict() == Conflict.FAIL;
        boolean conflictsByKey = insert.conflictsBy(parsed.dialect(), columns.keys());
        boolean tells = writesOverNothing || conflictsByKey || insert.conflictsByAnyKey();
        SqlTemplate.Builder skipped = from(start().append("TRUE"));
        return new RowReads(
                keys.size() == 1 ? keyOf(keys.get(0)) : List.of(),
                tells ? Conclusion.IF_FOUND : Conclusion.NEVER,
                end(byKeys(keys, diagnosis)),
                writesOverNothing || (conflictsByKey && !keys.isEmpty())
                        ? endOfSkipped(byKeys(writesOverNothing ? List.of() : keys, skipped))
                        : null);
    }

    private SqlTemplate.Builder start() {
        SqlTemplate.Builder read = new SqlTemplate.Builder(parsed, columns.written(), false);
        if (parsed.with() != null) {
            read.copy(parsed.with()).append("\n");
        }
        return read.append("SELECT count(*), max(" + columns.written() + "), ");
    }

    private SqlTemplate.Builder from(SqlTemplate.Builder read) {
        return read.append(" FROM ").copy(parsed.target()).append("\nWHERE (");
    }

    private SqlTemplate.Builder condition(SqlTemplate.Builder read) {
        if (parsed.from() != null) {
            read.append("EXISTS (SELECT 1 FROM ").copy(parsed.from()).append("\nWHERE (");
        }
        if (parsed.where() == null) {
            read.append("TRUE");
        } else {
            read.copy(parsed.where());
        }
        return parsed.from() == null ? read : read.append("\n))");
    }

    private static SqlTemplate.Builder byKeys(List<List<InsertedKey>> rows, SqlTemplate.Builder read) {
        String separator = "(";
        for (List<InsertedKey> row : rows) {
            for (InsertedKey key : row) {
                read.append(separator).copy(key.column()).append(" = ").copy(key.value());
                separator = " AND ";
            }
            separator = ") OR (";
        }
        return read.append(rows.isEmpty() ? "FALSE" : ")");
    }

    private SqlTemplate end(SqlTemplate.Builder read) {
        return read.append("\n)").append(parsed.dialect().endOfRead()).build();
    }

    private SqlTemplate endOfSkipped(SqlTemplate.Builder read) {
        read.append("\n) AND (").token(columns.written() + " <= ").append(") IS NOT TRUE");
        return read.append(parsed.dialect().endOfRead()).build();
    }

    private List<Object> keyText(List<List<SqlToken>> comparisons) {
        List<Object> pieces = new ArrayList<>();
        for (List<SqlToken> comparison : comparisons) {
            pieces.add(pieces.isEmpty() ? "" : " AND ");
            comparison.forEach(token -> pieces.add(token.isSymbol("=") ? " = " : piece(token)));
        }
        return List.copyOf(pieces);
    }

    private List<Object> keyOf(List<InsertedKey> row) {
        List<Object> pieces = new ArrayList<>();
        for (InsertedKey key : row) {
            pieces.add((pieces.isEmpty() ? "" : " AND ") + parsed.text(key.column()) + " = ");
            key.value().forEach(token -> pieces.add(piece(token)));
        }
        return List.copyOf(pieces);
    }

    private Object piece(SqlToken token) {
        return token.kind() == SqlToken.Kind.PARAMETER
                ? (Object) parsed.parametersBefore(token.start())
                : parsed.sql().substring(token.start(), token.end());
    }
}
