package io.ringfence.fencing.internal;

import io.ringfence.fencing.NotFenceableException;
import java.util.List;

/** One statement compiled for one token column: the fenced text and the reads that explain what it did not write. */
public final class FencedStatement {
    private final ParsedStatement parsed;
    private final SqlTemplate fenced;
    private final SqlTemplate telling;
    private final RowReads reads;
    private final int parameters;

    private FencedStatement(ParsedStatement parsed, SqlTemplate fenced, SqlTemplate telling, RowReads reads) {
        this.parsed = parsed;
        this.fenced = fenced;
        this.telling = telling;
        this.reads = reads;
        this.parameters = parsed.parameters();
    }

    /**
     * Compiles a statement.
     *
     * @param dialect whose SQL it is
     * @param sql an UPDATE, DELETE or INSERT as given to JDBC
     * @param columns the columns of the fence
     * @return the compiled statement
     * @throws io.ringfence.fencing.NotFenceableException if the statement is outside of the closed grammar
     */
    public static FencedStatement compile(Dialect dialect, String sql, RowColumns columns) {
        ParsedStatement parsed = parse(dialect, sql);
        if (parsed.set() != null) {
            Assignments.check(sql, parsed.set(), columns.token().last());
        }
        boolean marked = Markers.areIn(parsed) || parsed.insert() != null;
        if (marked) {
            Markers.check(parsed, columns);
        } else {
            requireOneTable(parsed);
        }
        String column = columns.written();
        SqlTemplate fenced = write(parsed, column, marked, new SqlTemplate.Builder(parsed, column, true));
        SqlTemplate telling = dialect == Dialect.POSTGRES
                ? write(parsed, column, marked, new SqlTemplate.Builder(parsed, column, true).tellingGuards())
                : fenced;
        return new FencedStatement(parsed, fenced, telling, ReadCompiler.compile(parsed, columns));
    }

    private static SqlTemplate write(ParsedStatement parsed, String column, boolean marked, SqlTemplate.Builder text) {
        if (marked) {
            text.copy(0, parsed.end());
        } else {
            fence(parsed, column, text);
        }
        return text.build();
    }

    static ParsedStatement parse(Dialect dialect, String sql) {
        ParsedStatement parsed = StatementParser.parse(dialect, sql);
        if (dialect == Dialect.H2) {
            refuseDeltaTables(parsed);
        }
        return parsed;
    }

    /** H2 takes FINAL TABLE (UPDATE ..) for a table, wherever it reads one: a write that no fence of ours is in. */
    private static void refuseDeltaTables(ParsedStatement parsed) {
        List<SqlToken> tokens = parsed.tokens();
        for (int i = 1; i < tokens.size() - 1; i++) {
            if (DeltaTable.isAt(tokens, i)) {
                throw Refusals.notFenceable(
                        parsed.sql(),
                        "what writes where a table is read,",
                        tokens.get(i - 1).start());
            }
        }
    }

    private static void requireOneTable(ParsedStatement parsed) {
        Clause with = parsed.with();
        Clause from = parsed.from();
        if (with != null) {
            throw Refusals.notFenceable(parsed.sql(), "WITH without the fence's markers", with.start());
        }
        if (from != null) {
            throw Refusals.notFenceable(parsed.sql(), "a second table without the fence's markers,", from.start());
        }
    }

    private static void fence(ParsedStatement parsed, String column, SqlTemplate.Builder text) {
        int copied = parsed.target().end();
        Clause set = parsed.set();
        if (set != null) {
            copied = set.lastTokenEnd();
            text.copy(0, copied).token(", " + column + " = ");
            if (copied < parsed.sql().length()
                    && SqlChars.isNamePart(parsed.sql().charAt(copied))) {
                text.append(" ");
            }
        } else {
            text.copy(0, copied);
        }
        Clause where = parsed.where();
        if (where == null) {
            text.append(" WHERE ");
        } else {
            // the line end closes a comment that would swallow the bracket
            text.copy(copied, where.start()).append(" (").copy(where).append("\n) AND ");
        }
        text.token(column + " <= ");
        Clause returning = parsed.returning();
        if (returning != null) {
            text.append(" ").copy(returning);
        }
    }

    /** {@return the name of the target} */
    public SqlName table() {
        return parsed.table();
    }

    /** {@return the fenced text} */
    public SqlTemplate fenced() {
        return fenced;
    }

    /** {@return the fenced text that also tells guards its token, where the database can have some} */
    public SqlTemplate telling() {
        return telling;
    }

    /** {@return the reads that explain what the statement did not write} */
    public RowReads reads() {
        return reads;
    }

    /** {@return whether the statement has a RETURNING clause} */
    public boolean isReturning() {
        return parsed.returning() != null;
    }

    /** {@return how many parameters the caller gives} */
    public int parameters() {
        return parameters;
    }

    /**
     * Checks the number of parameters before anything is sent.
     *
     * @param given how many there are
     * @throws IllegalArgumentException if the statement takes another number
     */
    public void requireParameters(int given) {
        if (given != parameters) {
            throw new IllegalArgumentException("The statement takes " + parameters + " parameters, but " + given
                    + " were given (the fence adds its own): " + fenced.sql());
        }
    }

    /**
     * Checks that the rows which a newer leader kept from being written can be counted.
     *
     * @throws io.ringfence.fencing.NotFenceableException if the statement does not tell which rows it meant
     */
    public void requireSkippedKnown() {
        if (reads.skipped() == null) {
            throw new NotFenceableException(
                    "Which rows this INSERT meant cannot be told afterwards, and so not whether a newer"
                            + " leader kept some from being written: " + parsed.sql()
                            + "\nExpect exactly(n) rows, or declare a key,"
                            + " give plain values for it, and name exactly its columns in ON CONFLICT (..)");
        }
    }
}
