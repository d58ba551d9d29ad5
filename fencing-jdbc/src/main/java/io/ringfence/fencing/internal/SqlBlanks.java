package io.ringfence.fencing.internal;

/** Where blanks and comments end. */
final class SqlBlanks {

    private SqlBlanks() {}

    /** Returns where the next token starts, or the length of the text. */
    static int skip(Dialect dialect, String sql, int from) {
        int at = from;
        while (at < sql.length()) {
            if (" \t\r\n\f\u000b".indexOf(sql.charAt(at)) >= 0) {
                at++;
            } else if (isLine(dialect, sql, at)) {
                at = endOfLine(dialect, sql, at);
            } else if (sql.startsWith("/*", at)) {
                at = endOfBlock(dialect, sql, at);
            } else {
                break;
            }
        }
        return at;
    }

    static boolean isComment(Dialect dialect, String sql, int at) {
        return sql.startsWith("/*", at) || isLine(dialect, sql, at);
    }

    private static boolean isLine(Dialect dialect, String sql, int at) {
        return switch (dialect) {
            case POSTGRES -> sql.startsWith("--", at);
            case H2 -> sql.startsWith("--", at) || sql.startsWith("//", at);
            case MARIADB -> sql.startsWith("#", at) || isSpacedLine(dialect, sql, at);
        };
    }

    /** In MariaDB two dashes start a comment only in front of a blank; to its driver they always do. */
    private static boolean isSpacedLine(Dialect dialect, String sql, int at) {
        if (!sql.startsWith("--", at)) {
            return false;
        }
        if (at + 2 < sql.length() && " \t\r\n".indexOf(sql.charAt(at + 2)) < 0) {
            throw Refusals.notFenceable(
                    sql, "two dashes without a blank behind them, which is no comment in " + dialect, at);
        }
        return true;
    }

    private static int endOfLine(Dialect dialect, String sql, int from) {
        int at = from;
        while (at < sql.length() && sql.charAt(at) != '\n' && (sql.charAt(at) != '\r' || dialect == Dialect.MARIADB)) {
            at++;
        }
        return at;
    }

    private static int endOfBlock(Dialect dialect, String sql, int start) {
        if (dialect == Dialect.MARIADB && (sql.startsWith("/*!", start) || sql.startsWith("/*M!", start))) {
            throw Refusals.notFenceable(sql, "a comment that " + dialect + " runs as SQL", start);
        }
        int at = start;
        int open = 0;
        do {
            if (at >= sql.length()) {
                throw Refusals.notFenceable(sql, "a comment that is never closed", start);
            }
            if (sql.startsWith("/*", at) && (open == 0 || dialect != Dialect.MARIADB)) {
                open++;
                at += 2;
            } else if (sql.startsWith("*/", at)) {
                open--;
                at += 2;
            } else {
                at++;
            }
        } while (open > 0);
        return at;
    }
}
