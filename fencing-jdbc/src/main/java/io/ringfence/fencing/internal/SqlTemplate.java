package io.ringfence.fencing.internal;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * A text for JDBC and what its parameters are.
 *
 * @param sql the text
 * @param binds for each parameter the index of the caller's, or {@link #TOKEN}
 */
public record SqlTemplate(String sql, List<Integer> binds) {
    /** Stands among the indexes for the token. */
    public static final int TOKEN = -1;

    /**
     * Binds all parameters of a statement with this text.
     *
     * @param prepared the statement
     * @param token the token
     * @param parameters binds the caller's
     * @throws SQLException if the driver refuses
     */
    public void bind(PreparedStatement prepared, long token, Parameters parameters) throws SQLException {
        for (int i = 0; i < binds.size(); i++) {
            int parameter = binds.get(i);
            if (parameter == TOKEN) {
                prepared.setLong(i + 1, token);
            } else {
                parameters.bind(prepared, i + 1, parameter);
            }
        }
    }

    /**
     * Runs this text as a {@linkplain RowReads read}.
     *
     * @param connection where to
     * @param token the token
     * @param parameters binds the caller's
     * @return what was found
     * @throws SQLException if the database refuses
     */
    public RowWrite.Found read(Connection connection, long token, Parameters parameters) throws SQLException {
        try (PreparedStatement read = connection.prepareStatement(sql)) {
            bind(read, token, parameters);
            try (ResultSet row = read.executeQuery()) {
                row.next();
                long rows = row.getLong(1);
                long highest = row.getLong(2);
                return new RowWrite.Found(rows, row.wasNull() ? null : highest, row.getBoolean(3));
            }
        }
    }

    /** Binds the caller's parameters. */
    @FunctionalInterface
    public interface Parameters {

        /**
         * Binds one.
         *
         * @param prepared the statement
         * @param index where, counted from 1
         * @param parameter which one of the caller's, counted from 0
         * @throws SQLException if the driver refuses
         */
        void bind(PreparedStatement prepared, int index, int parameter) throws SQLException;
    }

    /** Puts a text together from stretches of a statement, in which it replaces the markers, and new pieces. */
    static final class Builder {
        private final ParsedStatement statement;
        private final String column;
        private final boolean fencing;
        private final StringBuilder sql = new StringBuilder();
        private final List<Integer> binds = new ArrayList<>();
        private String token = "?";

        /**
         * Starts with nothing.
         *
         * @param statement the statement to copy from
         * @param column the token column, as it is written
         * @param fencing whether the markers become the fence; else a condition is replaced by TRUE
         */
        Builder(ParsedStatement statement, String column, boolean fencing) {
            this.statement = statement;
            this.column = column;
            this.fencing = fencing;
        }

        /** Makes the statement tell guards its token from now on. */
        Builder tellingGuards() {
            token = TokenSetting.TELLING_PARAMETER;
            return this;
        }

        Builder append(String text) {
            sql.append(text);
            return this;
        }

        /** Adds a parameter for the token behind a text. */
        Builder token(String text) {
            sql.append(text).append(token);
            binds.add(TOKEN);
            return this;
        }

        Builder copy(Clause clause) {
            return copy(clause.start(), clause.end());
        }

        Builder copy(List<SqlToken> part) {
            return copy(part.get(0).start(), part.get(part.size() - 1).end());
        }

        Builder copy(int from, int to) {
            int copied = from;
            for (SqlToken token : statement.tokens()) {
                if (token.start() < from || token.end() > to) {
                    continue;
                }
                if (token.kind() == SqlToken.Kind.PARAMETER) {
                    binds.add(statement.parametersBefore(token.start()));
                } else if (token.kind() == SqlToken.Kind.MARKER) {
                    sql.append(statement.sql(), copied, token.start());
                    marker(token);
                    copied = token.end();
                }
            }
            sql.append(statement.sql(), copied, to);
            return this;
        }

        private void marker(SqlToken token) {
            switch (token.text()) {
                case "set" -> token(column + " = ");
                case "where" -> {
                    if (fencing) {
                        String alias = Markers.alias(statement, token);
                        token((alias == null ? "" : alias + ".") + column + " <= ");
                    } else {
                        append("TRUE");
                    }
                }
                case "column" -> append(column);
                default -> token("");
            }
        }

        SqlTemplate build() {
            return new SqlTemplate(sql.toString(), List.copyOf(binds));
        }
    }
}
