package io.ringfence.fencing.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One statement compiled for one token column: the fenced text, the read that explains a count of zero, and where each
 * of the caller's parameters goes.
 */
public final class FencedStatement {
    /** Stands among the parameter indexes for the token. */
    public static final int TOKEN = -1;

    private final SqlName table;
    private final int parameters;
    private final String sql;
    private final List<Integer> binds;
    private final String diagnosis;
    private final List<Integer> diagnosisBinds;
    private final List<Object> key;

    private FencedStatement(ParsedStatement parsed, String column, List<String> keys) {
        String token = new SqlName(List.of(column)).quoted();
        table = parsed.table();
        int before = ParsedStatement.parameters(parsed.assignments());
        int inside = ParsedStatement.parameters(parsed.predicate());
        parameters = before + inside;
        sql = fence(parsed, token);
        List<Integer> order = new ArrayList<>(range(0, before));
        if (parsed.isUpdate()) {
            order.add(TOKEN);
        }
        order.addAll(range(before, parameters));
        order.add(TOKEN);
        binds = List.copyOf(order);
        List<List<SqlToken>> comparisons = Conjuncts.of(parsed.predicate()).keys(keys);
        diagnosis = diagnose(parsed, token, comparisons);
        List<Integer> reads = new ArrayList<>(range(before, parameters));
        reads.addAll(
                comparisons.isEmpty()
                        ? range(before, parameters)
                        : comparisons.stream()
                                .flatMap(comparison -> Conjuncts.parameter(comparison).stream())
                                .map(parameter -> indexOf(parsed, parameter))
                                .toList());
        diagnosisBinds = List.copyOf(reads);
        key = keyText(parsed, comparisons);
    }

    /**
     * Compiles a statement.
     *
     * @param sql an UPDATE or DELETE as given to JDBC
     * @param column the token column, folded
     * @param keys the key columns, folded; none if no key is declared
     * @return the compiled statement
     * @throws io.ringfence.fencing.NotFenceableException if the statement is outside of the closed grammar
     */
    public static FencedStatement compile(String sql, String column, List<String> keys) {
        ParsedStatement parsed = StatementParser.parse(sql);
        Assignments.check(parsed, column);
        return new FencedStatement(parsed, column, keys);
    }

    /**
     * Checks a text that something else has fenced: its condition must end in AND and the comparison of the token column
     * with one value, at the top.
     *
     * @param sql the fenced text
     * @param column the token column, folded
     * @throws io.ringfence.fencing.NotFenceableException if it does not
     */
    public static void requireFenced(String sql, String column) {
        ParsedStatement parsed = StatementParser.parse(sql);
        if (!Conjuncts.of(parsed.predicate()).endIn(column, "<=")) {
            throw Refusals.notFenceable(
                    sql, "a condition that the fence does not hold together (a fragment of plain SQL?)", 0);
        }
    }

    private static String fence(ParsedStatement parsed, String token) {
        String sql = parsed.sql();
        StringBuilder fenced = new StringBuilder();
        int copied = parsed.targetEnd();
        if (parsed.isUpdate()) {
            copied = parsed.setEnd();
            fenced.append(sql, 0, copied).append(", ").append(token).append(" = ?");
        } else {
            fenced.append(sql, 0, copied);
        }
        if (parsed.where() < 0) {
            fenced.append(" WHERE ");
        } else {
            // the line end closes a comment that would swallow the bracket
            fenced.append(sql, copied, parsed.where()).append(" (").append(parsed.predicateText());
            fenced.append("\n) AND ");
        }
        return fenced.append(token).append(" <= ?").toString();
    }

    private static String diagnose(ParsedStatement parsed, String token, List<List<SqlToken>> comparisons) {
        String predicate = parsed.where() < 0 ? "TRUE" : parsed.predicateText();
        StringBuilder read = new StringBuilder("SELECT count(*), max(").append(token);
        read.append("), bool_or((").append(predicate).append("\n) IS TRUE) FROM ");
        read.append(parsed.target()).append("\nWHERE (");
        if (comparisons.isEmpty()) {
            return read.append(predicate).append("\n)").toString();
        }
        String separator = "";
        for (List<SqlToken> comparison : comparisons) {
            read.append(separator).append(text(parsed, comparison));
            separator = "\n) AND (";
        }
        return read.append("\n)").toString();
    }

    private static String text(ParsedStatement parsed, List<SqlToken> tokens) {
        return parsed.sql()
                .substring(tokens.get(0).start(), tokens.get(tokens.size() - 1).end());
    }

    /** Returns the key comparisons as pieces of text and indexes of parameters. */
    private static List<Object> keyText(ParsedStatement parsed, List<List<SqlToken>> comparisons) {
        List<Object> pieces = new ArrayList<>();
        for (List<SqlToken> comparison : comparisons) {
            pieces.add(pieces.isEmpty() ? "" : " AND ");
            for (SqlToken token : comparison) {
                if (token.kind() == SqlToken.Kind.PARAMETER) {
                    pieces.add(indexOf(parsed, token));
                } else {
                    String text = parsed.sql().substring(token.start(), token.end());
                    pieces.add(token.isSymbol("=") ? " = " : text);
                }
            }
        }
        return List.copyOf(pieces);
    }

    private static int indexOf(ParsedStatement parsed, SqlToken parameter) {
        List<SqlToken> predicate = parsed.predicate();
        return ParsedStatement.parameters(parsed.assignments())
                + ParsedStatement.parameters(predicate.subList(0, predicate.indexOf(parameter)));
    }

    private static List<Integer> range(int from, int to) {
        return IntStream.range(from, to).boxed().toList();
    }

    /** {@return the name of the target} */
    public SqlName table() {
        return table;
    }

    /** {@return the fenced text} */
    public String sql() {
        return sql;
    }

    /** {@return for each parameter of the fenced text the index of the caller's, or {@link #TOKEN}} */
    public List<Integer> binds() {
        return binds;
    }

    /** {@return the read that explains a count of zero: the count, the highest token, whether the predicate is true} */
    public String diagnosis() {
        return diagnosis;
    }

    /** {@return for each parameter of the read the index of the caller's} */
    public List<Integer> diagnosisBinds() {
        return diagnosisBinds;
    }

    /**
     * Returns the key for messages, for example {@code id = 7}.
     *
     * @param values the caller's parameters
     * @return the text, or null if the read does not go by key
     */
    public @Nullable String keyText(@Nullable Object[] values) {
        if (key.isEmpty()) {
            return null;
        }
        StringBuilder text = new StringBuilder();
        for (Object piece : key) {
            text.append(piece instanceof Integer index ? values[index] : piece);
        }
        return text.toString();
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
                    + " were given (the fence adds its own): " + sql);
        }
    }
}
