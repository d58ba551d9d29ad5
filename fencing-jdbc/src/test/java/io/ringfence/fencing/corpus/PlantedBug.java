package io.ringfence.fencing.corpus;

import java.io.IOException;

/** Bugs that fences in SQL are known for, each as a change of the source code and what comes of it. */
enum PlantedBug {
    NO_BRACKETS_AROUND_THE_CONDITION(
            FenceViolation.HIGHER_TOKEN,
            "FencedStatement",
            ".append(\" (\").copy(where).append(\"\\n) AND \");",
            ".append(\" \").copy(where).append(\"\\n AND \");"),
    BRACKET_SWALLOWED_BY_A_COMMENT(
            FenceViolation.ONLY_FENCED_REJECTED, "FencedStatement", ".append(\"\\n) AND \");", ".append(\") AND \");"),
    CONDITION_ENDS_AT_A_COMMENT(
            FenceViolation.OTHER_ROWS,
            "TokenCursor",
            "return new Clause(start, position(), tokens.subList(first, at));",
            "return new Clause(start, Math.min(position(), (sql + \"--\").indexOf(\"--\", tokens.get(first).end())),"
                    + " tokens.subList(first, at));"),
    CONDITION_GOES_ON_BEHIND_RETURNING(
            FenceViolation.ONLY_FENCED_REJECTED, "TokenCursor", "\"returning\",", "\"reading\","),
    CONDITION_ENDS_AT_ITS_LAST_BRACKET(
            FenceViolation.OTHER_ROWS,
            "TokenCursor",
            "return new Clause(start, position(), tokens.subList(first, at));",
            "int bracket = sql.substring(0, position()).lastIndexOf(')') + 1;"
                    + " return new Clause(start, bracket > start ? bracket : position(), tokens.subList(first, at));"),
    REST_NOT_LOOKED_AT(FenceViolation.ONLY_PLAIN_REJECTED, "TokenCursor", "if (!isAtEnd()) {", "if (at < 0) {"),
    SECOND_TABLE_NOT_SEEN(FenceViolation.ONLY_FENCED_REJECTED, "TokenCursor", "\"from\",", "\"fromm\","),
    NESTED_COMMENTS_NOT_KNOWN(
            FenceViolation.ONLY_FENCED_REJECTED,
            "SqlBlanks",
            "(open == 0 || dialect != Dialect.MARIADB)",
            "(open == 0)"),
    TOKEN_BOUND_TOO_EARLY(
            FenceViolation.OTHER_ROWS,
            "SqlTemplate",
            "sql.append(text).append(token);\n            binds.add(TOKEN);",
            "sql.append(text).append(token);\n            binds.add(binds.size() / 2, TOKEN);"),
    MARKER_UNDER_OR(FenceViolation.HIGHER_TOKEN, "Conjuncts", "return token.isWord(\"or\")", "return false"),
    MARKER_IN_ANY_EXPRESSION(
            FenceViolation.HIGHER_TOKEN,
            "Conjuncts",
            "part.size() == 1 && part.get(0).equals(alone)",
            "part.contains(alone)"),
    MARKER_UNDER_BETWEEN(
            FenceViolation.ONLY_FENCED_REJECTED,
            "Conjuncts",
            "case \"between\" -> between |= cases == 0;",
            "case \"between\" -> between = false;"),
    MARKER_IN_CASE(
            FenceViolation.HIGHER_TOKEN,
            "Conjuncts",
            "case \"case\" -> cases++;\n                case \"end\" -> cases--;",
            "case \"case\", \"end\" -> cases = 0;"),
    MARKER_IN_A_QUERY(
            FenceViolation.HIGHER_TOKEN,
            "Conjuncts",
            "if (cases < 0 || QUERIES.contains(token.word())) {",
            "if (cases < 0) {"),
    MARKER_OF_ANOTHER_TABLE(
            FenceViolation.HIGHER_TOKEN,
            "Markers",
            "if (!name(alias, token).equals(statement.reference())) {",
            "if (name(alias, token).isEmpty()) {"),
    VALUE_NOT_THE_TOKEN(
            FenceViolation.NO_TOKEN,
            "Markers",
            "if (star || row.size() != insert.columns().size() || !alone) {",
            "if (star || row.size() != insert.columns().size()) {"),
    WRITE_IN_WITH(
            FenceViolation.HIGHER_TOKEN,
            "StatementParser",
            "if (query.isEmpty() || !READS.contains(query.get(0).word())) {",
            "if (query.isEmpty()) {");

    /** The rule that it makes a fence violate. */
    final String rule;

    private final String type;
    private final String text;
    private final String replacement;

    PlantedBug(String rule, String type, String text, String replacement) {
        this.rule = rule;
        this.type = type;
        this.text = text;
        this.replacement = replacement;
    }

    /** Takes the code that the bug would be in, without the bug. */
    void takeInto(MutatedCompiler code) throws IOException {
        code.replace(type, text, text);
    }

    void plantIn(MutatedCompiler code) throws IOException {
        code.replace(type, text, replacement);
    }
}
