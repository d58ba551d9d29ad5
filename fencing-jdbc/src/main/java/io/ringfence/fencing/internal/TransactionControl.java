package io.ringfence.fencing.internal;

import io.ringfence.fencing.NotFenceableException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Finds statements that begin or end a transaction, in a text of one or several statements. */
public final class TransactionControl {
    private static final Set<String> CONTROL =
            Set.of("begin", "commit", "end", "abort", "start", "prepare", "rollback");

    private TransactionControl() {}

    /**
     * Refuses a text that would begin or end a transaction. Savepoints pass, ROLLBACK TO included. Function bodies in
     * BEGIN ATOMIC are refused with the rest.
     *
     * @param sql the text as given to JDBC
     * @throws IllegalStateException if it would, or if it has a semicolon and cannot be split with certainty
     */
    public static void refuse(String sql) {
        if (sql.indexOf(';') < 0) {
            refuse(start(sql));
            return;
        }
        List<SqlToken> statement = new ArrayList<>();
        for (SqlToken token : split(sql)) {
            if (token.isSymbol(";")) {
                refuse(statement);
                statement.clear();
            } else {
                statement.add(token);
            }
        }
        refuse(statement);
    }

    /** Reads no more than needed, so that one statement is never refused for what comes later in it. */
    private static List<SqlToken> start(String sql) {
        int escape = SqlBlanks.skip(Dialect.POSTGRES, sql, 0);
        if (escape < sql.length() && sql.charAt(escape) == '{') {
            requireCall(sql.substring(escape + 1));
            return List.of();
        }
        List<SqlToken> first = SqlLexer.first(Dialect.POSTGRES, sql, 1);
        return first.isEmpty() || !CONTROL.contains(first.get(0).text())
                ? List.of()
                : SqlLexer.first(Dialect.POSTGRES, sql, 3);
    }

    /** The driver takes the brackets of {fn ..} and {oj ..} away, and sends whatever is in them. */
    private static void requireCall(String escaped) {
        List<SqlToken> first = SqlLexer.first(Dialect.POSTGRES, escaped, 1);
        boolean call =
                !first.isEmpty() && (first.get(0).isWord("call") || first.get(0).kind() == SqlToken.Kind.PARAMETER);
        if (!call) {
            throw new IllegalStateException(
                    "On a fenced connection {call ..} and {? = call ..} are the only JDBC escapes"
                            + " that a text may begin with: {" + escaped);
        }
    }

    private static List<SqlToken> split(String sql) {
        try {
            return SqlLexer.tokens(Dialect.POSTGRES, sql);
        } catch (NotFenceableException e) {
            throw new IllegalStateException(
                    "On a fenced connection a text with a ';' runs only if it is certain where its statements end"
                            + " (see the cause): send them one by one, without ';'",
                    e);
        }
    }

    private static void refuse(List<SqlToken> statement) {
        if (statement.isEmpty()) {
            return;
        }
        boolean control = switch (statement.get(0).text()) {
            case "begin", "commit", "end", "abort" -> true;
            case "start", "prepare" -> word(statement, 1, "transaction");
            case "rollback" -> !word(statement, 1, "to") && !word(statement, 2, "to");
            default -> false;
        };
        if (control && statement.get(0).kind() == SqlToken.Kind.WORD) {
            throw new IllegalStateException(
                    "The transaction of a fenced connection is ended by JDBC's commit() and rollback(), or by the return"
                            + " of the work of ResourceFence.inTransaction, never by SQL text: it may not run "
                            + statement.get(0).text().toUpperCase(Locale.ROOT));
        }
    }

    private static boolean word(List<SqlToken> statement, int index, String word) {
        return index < statement.size() && statement.get(index).isWord(word);
    }
}
