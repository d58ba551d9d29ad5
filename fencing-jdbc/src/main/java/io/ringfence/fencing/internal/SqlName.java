package io.ringfence.fencing.internal;

import io.ringfence.fencing.NotFenceableException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A name as written in SQL, for example {@code invoice}, {@code billing.invoice} or {@code "Invoice"}: unquoted parts are
 * folded to lower case, as the server does.
 *
 * @param parts the folded or unquoted parts, the last one being the name itself
 */
public record SqlName(List<String> parts) {
    private static final int MAX_BYTES = 63;

    /**
     * Reads a name.
     *
     * @param name the name as written in SQL
     * @param maxParts how many parts it may have
     * @return the name
     * @throws IllegalArgumentException if the text is anything else
     */
    public static SqlName parse(String name, int maxParts) {
        List<SqlToken> tokens = lex(name);
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
            throw malformed(name, maxParts);
        }
        return new SqlName(parts);
    }

    private static List<SqlToken> lex(String name) {
        try {
            return SqlLexer.tokens(name);
        } catch (NotFenceableException e) {
            IllegalArgumentException malformed = malformed(name, 1);
            malformed.initCause(e);
            throw malformed;
        }
    }

    private static IllegalArgumentException malformed(String name, int maxParts) {
        return new IllegalArgumentException("Not a name as SQL writes it, of at most " + maxParts + " part(s) and "
                + MAX_BYTES + " bytes each: " + name);
    }

    /** {@return the last part} */
    public String last() {
        return parts.get(parts.size() - 1);
    }

    /** {@return the name with every part quoted, fit for any SQL} */
    public String quoted() {
        return parts.stream()
                .map(part -> '"' + part.replace("\"", "\"\"") + '"')
                .collect(Collectors.joining("."));
    }

    /** Returns the name for messages, quoted only where it must be. */
    @Override
    public String toString() {
        return parts.stream()
                .map(part -> part.matches("[a-z_][a-z0-9_]*") ? part : '"' + part.replace("\"", "\"\"") + '"')
                .collect(Collectors.joining("."));
    }
}
