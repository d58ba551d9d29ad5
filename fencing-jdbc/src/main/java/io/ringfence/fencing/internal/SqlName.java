package io.ringfence.fencing.internal;

import io.ringfence.fencing.NotFenceableException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A name as written in SQL, for example {@code invoice}, {@code billing.invoice} or {@code "Invoice"}: unquoted parts are
 * folded as the server does it.
 *
 * @param dialect whose rules it follows
 * @param parts the folded or unquoted parts, the last one being the name itself
 */
public record SqlName(Dialect dialect, List<String> parts) {
    private static final int MAX_BYTES = 63;

    /**
     * Reads a name of PostgreSQL.
     *
     * @param name the name as written in SQL
     * @param maxParts how many parts it may have
     * @return the name
     * @throws IllegalArgumentException if the text is anything else
     */
    public static SqlName parse(String name, int maxParts) {
        return parse(Dialect.POSTGRES, name, maxParts);
    }

    /**
     * Reads a name.
     *
     * @param dialect whose rules to follow
     * @param name the name as written in SQL
     * @param maxParts how many parts it may have
     * @return the name
     * @throws IllegalArgumentException if the text is anything else
     */
    public static SqlName parse(Dialect dialect, String name, int maxParts) {
        List<SqlToken> tokens = lex(dialect, name);
        List<String> parts =
                tokens.stream().filter(SqlToken::isName).map(SqlToken::text).toList();
        boolean shaped = tokens.size() == 2 * parts.size() - 1;
        int end = 0;
        for (int i = 0; i < tokens.size(); i++) {
            SqlToken token = tokens.get(i);
            shaped &= token.start() == end && (i % 2 == 0 ? token.isName() : token.isSymbol("."));
            end = token.end();
        }
        shaped &= end == name.length();
        for (String part : parts) {
            shaped &= !part.isEmpty() && part.getBytes(StandardCharsets.UTF_8).length <= MAX_BYTES;
        }
        if (!shaped || parts.size() > maxParts) {
            throw malformed(dialect, name, maxParts);
        }
        return new SqlName(dialect, parts);
    }

    /**
     * Reads the name of a table as FROM or UPDATE declares it, with an alias or without.
     *
     * @param dialect whose rules to follow
     * @param declared the name and what may follow it
     * @return the name
     * @throws NotFenceableException if the text is anything else
     */
    public static SqlName declared(Dialect dialect, String declared) {
        TokenCursor cursor = new TokenCursor(dialect, declared);
        SqlName name = cursor.tableName();
        if (cursor.accept("as") || !cursor.isAtEnd()) {
            cursor.name("an alias");
        }
        cursor.end();
        return name;
    }

    private static List<SqlToken> lex(Dialect dialect, String name) {
        try {
            return SqlLexer.tokens(dialect, name);
        } catch (NotFenceableException e) {
            IllegalArgumentException malformed = malformed(dialect, name, 1);
            malformed.initCause(e);
            throw malformed;
        }
    }

    private static IllegalArgumentException malformed(Dialect dialect, String name, int maxParts) {
        return new IllegalArgumentException("Not a name as " + dialect + "'s SQL writes it, of at most " + maxParts
                + " part(s) and " + MAX_BYTES + " bytes each: " + name);
    }

    /**
     * {@return a name in the same schema, or without one if this has none}
     *
     * @param other the name itself, as it is in the catalog
     */
    public SqlName sibling(String other) {
        List<String> renamed = new ArrayList<>(parts);
        renamed.set(parts.size() - 1, other);
        return new SqlName(dialect, List.copyOf(renamed));
    }

    /** {@return the last part} */
    public String last() {
        return parts.get(parts.size() - 1);
    }

    /** Returns the schema, or null if none is named. */
    @Nullable
    String schema() {
        return parts.size() < 2 ? null : parts.get(parts.size() - 2);
    }

    /** {@return the name with every part quoted, fit for any SQL} */
    public String quoted() {
        return parts.stream().map(this::quoted).collect(Collectors.joining("."));
    }

    private String quoted(String part) {
        String quote = String.valueOf(dialect.quote());
        return quote + part.replace(quote, quote + quote) + quote;
    }

    /** Returns the name for messages, quoted only where it must be. */
    @Override
    public String toString() {
        return parts.stream().map(this::display).collect(Collectors.joining("."));
    }

    private String display(String part) {
        return part.matches("[A-Za-z_][A-Za-z0-9_]*") && dialect.fold(part).equals(part) ? part : quoted(part);
    }
}
